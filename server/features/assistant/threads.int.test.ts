import { randomUUID } from "node:crypto";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createCanvas } from "#server/features/canvases/service.ts";
import { createLlmKey, deleteLlmKey } from "#server/features/llm-keys/service.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { deleteProject } from "#server/features/projects/delete.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import { answerApi } from "#server/http/api.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { type Bridge, bridgeOf, ORIGIN } from "#server/testing/bridge.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let ada: ProjectPrincipal;
let page: Bridge;
beforeAll(async () => {
  setSettings({ APP_URL: ORIGIN });
  ada = await database.newAdmin();
  page = await bridgeOf(ada);
});

const keyOf = (provider: "openai" | "huggingface", admin = ada) =>
  createLlmKey(admin, {
    name: `Key ${randomUUID()}`,
    provider,
    api_key: provider === "openai" ? `sk-${"x".repeat(40)}` : `hf_${"x".repeat(34)}`,
  });

/** An admin of a project with an assistant, and his or her page. */
async function newProject() {
  const admin = await database.newAdmin();
  const own = await bridgeOf(admin);
  const { id } = await keyOf("openai", admin);
  await own.call("PUT", "/settings", { llm_key_id: id, model: "gpt-5" });
  return { admin, own, key_id: id };
}

test("without a model the assistant says so, and takes no message", async () => {
  const settings = await page.call("GET", "/settings");
  expect(settings).toEqual({ llm_key_id: null, model: "", ready: false, problem: expect.stringContaining("no model yet") });
  const thread = await page.call("POST", "/threads", {});
  const refused = await page.ask("POST", `/threads/${thread.id}/messages`, { content: "Hello" });
  expect(refused).toMatchObject({ status: 409, data: { error_code: "CONFLICT", detail: settings.problem } });
});

test("an admin chooses a key whose models call tools; it stays as long as the assistant has it", async () => {
  const { admin, own, key_id } = await newProject();
  expect(await own.call("GET", "/settings")).toEqual({ llm_key_id: key_id, model: "gpt-5", ready: true });
  const face = await keyOf("huggingface", admin);
  const refused = [
    { llm_key_id: face.id, model: "x" },
    { llm_key_id: key_id, model: " " },
    { llm_key_id: randomUUID(), model: "x" },
  ];
  for (const body of refused) expect((await own.ask("PUT", "/settings", body)).status).toBe(422);
  expect((await own.ask("PUT", "/settings", refused[0])).data.detail).toMatch(/calling tools.+cannot/);
  await expect(deleteLlmKey(admin, { key_id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("the assistant"),
  });
  // What a GET gave may be sent back, and what is left out stays.
  await own.call("PUT", "/settings", { ...(await own.call("GET", "/settings")), problem: "none" });
  expect(await own.call("PUT", "/settings", { model: "gpt-5-mini" })).toEqual({ llm_key_id: key_id, model: "gpt-5-mini", ready: true });
  expect(await own.call("PUT", "/settings", { llm_key_id: null })).toMatchObject({ llm_key_id: null, model: "", ready: false });
  await deleteLlmKey(admin, { key_id });
  const entries = await db().auditEntry.findMany({
    where: { project_id: admin.project.id, action: "assistant.update" },
    orderBy: { id: "asc" },
  });
  const [first, ...others] = entries.map(({ detail }) => detail);
  expect([first, others.at(-1)]).toEqual([{ llm_key_id: key_id, model: "gpt-5" }, { llm_key_id: null }]);
});

test("a project with an assistant and threads can be deleted", async () => {
  const { admin, own } = await newProject();
  const thread = await own.call("POST", "/threads", {});
  await own.call("POST", `/threads/${thread.id}/messages`, { content: "Hello" });
  await deleteProject(admin, { project_id: admin.project.id });
  expect(await db().project.findUnique({ where: { id: admin.project.id } })).toBeNull();
});

test("threads are begun, listed, renamed and deleted", async () => {
  const { admin, own } = await newProject();
  const workflow = await createWorkflow(admin, { name: "Flow" });
  const one = await own.call("POST", "/threads", { title: "One" });
  const two = await own.call("POST", "/threads", { workflow_id: workflow.id });
  expect(two).toMatchObject({ title: "", workflow_id: workflow.id, is_working: false });
  expect(await own.call("GET", "/threads?per_page=1")).toMatchObject({ items: [two], total: 2, page: 1, per_page: 1 });
  expect(await own.call("PATCH", `/threads/${one.id}`, { title: "Uno" })).toMatchObject({ id: one.id, title: "Uno" });
  expect(await own.ask("DELETE", `/threads/${one.id}`)).toEqual({ status: 204, data: undefined });
  expect((await own.ask("GET", `/threads/${one.id}`)).status).toBe(404);
  expect((await own.ask("POST", "/threads", { workflow_id: randomUUID() })).status).toBe(422);
  expect((await own.ask("PATCH", `/threads/${two.id}`, { title: " " })).status).toBe(422);
});

test("the thread in which something happened last comes first", async () => {
  const { own } = await newProject();
  const [one, two] = [await own.call("POST", "/threads", { title: "One" }), await own.call("POST", "/threads", { title: "Two" })];
  const titles = async () => (await own.call("GET", "/threads")).items.map(({ title }: { title: string }) => title);
  expect(await titles()).toEqual(["Two", "One"]);
  await own.call("POST", `/threads/${one.id}/messages`, { content: "Hello" });
  expect(await titles()).toEqual(["One", "Two"]);
  await own.call("POST", `/threads/${two.id}/messages`, { content: "Hello" });
  expect(await titles()).toEqual(["Two", "One"]);
});

test("whoever follows a thread that is deleted is told that it has ended", async () => {
  const { own } = await newProject();
  const { id } = await own.call("POST", "/threads", {});
  await own.call("POST", `/threads/${id}/messages`, { content: "Hello" });
  const isFollowed = Promise.withResolvers<void>();
  const told = own.stream(id, () => {
    isFollowed.resolve();
    return false;
  });
  await isFollowed.promise;
  await own.call("DELETE", `/threads/${id}`);
  expect((await told).map(({ event }) => event)).toEqual(["message"]);
  expect((await own.ask("GET", `/threads/${id}/stream`)).status).toBe(404);
});

test("a message is a row and an event with a number; the first gives the thread its title", async () => {
  const { own } = await newProject();
  const { id } = await own.call("POST", "/threads", {});
  const sent = await own.ask("POST", `/threads/${id}/messages`, { content: "Build me a digest\nof looms", mode: "ask" });
  expect(sent).toEqual({ status: 202, data: { message_id: expect.any(String) } });
  const { message_id } = sent.data;
  const thread = await own.call("GET", `/threads/${id}`);
  const said = { content: "Build me a digest\nof looms", mode: "ask", context: {} };
  expect(thread).toMatchObject({ title: "Build me a digest", is_working: true, last_event_id: 1 });
  expect(thread.messages).toMatchObject([{ id: message_id, ...said, status: "queued", answer: "", error: null, cost: null }]);
  const [event] = await own.stream(id, () => true);
  expect(event).toMatchObject({ id: "1", event: "message", data: { type: "message", message_id, ...said } });
  for (const context of [{ workflow_id: randomUUID() }, { execution_id: "x" }, { canvas_id: randomUUID() }]) {
    const refused = await own.ask("POST", `/threads/${id}/messages`, { content: "This?", context });
    expect(refused).toMatchObject({ status: 422, data: { errors: [{ path: `context.${Object.keys(context)[0]}` }] } });
  }
});

test("what a message is about is told by its name, and a name of later changes nothing", async () => {
  const { admin, own } = await newProject();
  const position = { x: 0, y: 0 };
  const nodes = [{ id: "start", type: "triggerNode", position, data: { label: "Begin" } }];
  const { id: workflow_id } = await createWorkflow(admin, { name: "Daily", nodes, edges: [] });
  const execution_id = await endedRun(admin, workflow_id, {});
  const canvas = await createCanvas(admin, { name: "Figures" });
  const { id } = await own.call("POST", "/threads", {});
  const context = { workflow_id, execution_id, node_id: "start", canvas_id: canvas.id };
  await own.call("POST", `/threads/${id}/messages`, { content: "This?", context });
  await own.call("POST", `/threads/${id}/messages`, { content: "And that?", context: { workflow_id, node_id: "gone" } });
  await updateWorkflow(admin, { workflow_id, name: "Weekly" });
  const events = await own.stream(id, ({ id }) => id === "2");
  expect(events.map(({ data }) => data.attached)).toEqual([
    [
      { kind: "workflow", name: "Daily" },
      { kind: "execution", name: "Daily" },
      { kind: "node", name: "Begin" },
      { kind: "canvas", name: "Figures" },
    ],
    [{ kind: "workflow", name: "Daily" }],
  ]);
});

test("only so many messages wait in a thread, and a stop ends all of them at once", async () => {
  const { own } = await newProject();
  const { id } = await own.call("POST", "/threads", {});
  for (let n = 0; n < 10; n++) await own.call("POST", `/threads/${id}/messages`, { content: `Message ${n}` });
  expect((await own.ask("POST", `/threads/${id}/messages`, { content: "One more" })).status).toBe(409);
  expect(await own.call("POST", `/threads/${id}/stop`)).toMatchObject({ id, is_working: false });
  const { messages, last_event_id } = await own.call("GET", `/threads/${id}`);
  expect(messages.map(({ status }: { status: string }) => status)).toEqual(Array(10).fill("stopped"));
  const events = await own.stream(id, ({ id }) => id === String(last_event_id));
  expect(events.map(({ id }) => Number(id))).toEqual(Array.from({ length: last_event_id }, (_, index) => index + 1));
  expect(events.at(-1)).toMatchObject({ event: "message_failed", data: { stopped: true, code: "stopped" } });
  expect((await own.ask("POST", `/threads/${id}/stop`)).status).toBe(200);
});

test("a person writes only so many messages in an hour, in whatever threads and projects", async () => {
  const { admin, own } = await newProject();
  setSettings({ ASSISTANT_MESSAGES_PER_HOUR: "2" });
  onTestFinished(() => setSettings({ ASSISTANT_MESSAGES_PER_HOUR: "60" }));
  const send = async () => {
    const { id } = await own.call("POST", "/threads", {});
    return own.ask("POST", `/threads/${id}/messages`, { content: "Hello" });
  };
  expect([(await send()).status, (await send()).status]).toEqual([202, 202]);
  expect(await send()).toMatchObject({ status: 429, data: { error_code: "RATE_LIMIT_EXCEEDED" } });
  expect(await db().assistantMessage.count({ where: { thread: { user_id: admin.user.id } } })).toBe(2);
});

test("a secret of the project that somebody pastes is not kept", async () => {
  const { admin, own } = await newProject();
  const { id } = await own.call("POST", "/threads", {});
  await own.call("POST", `/threads/${id}/messages`, { content: `Use sk-${"x".repeat(40)} for it` });
  const kept = JSON.stringify([
    await db().assistantMessage.findMany(),
    await db().assistantEvent.findMany(),
    await own.call("GET", `/threads/${id}`),
  ]);
  expect(kept).toContain("Use •••• for it");
  expect(kept).not.toContain("x".repeat(40));
  expect(admin.role).toBe("admin");
});

/** A message that waits for a person, with what it asks. */
async function waiting(own: Bridge, kind: "question" | "confirmation") {
  const { id: thread_id } = await own.call("POST", "/threads", {});
  const { message_id } = await own.call("POST", `/threads/${thread_id}/messages`, { content: "Do it" });
  await db().assistantMessage.update({ where: { id: message_id }, data: { status: "waiting", begun_at: new Date() } });
  const { id } = await db().assistantRequest.create({
    data: { thread_id, message_id, kind, call_id: "0-call", tool: kind === "question" ? "ask_user" : "decide_review", arguments: {} },
  });
  return { thread_id, message_id, path: `/${kind}s/${id}`, id };
}

test("an answer and a decision count once, and have the message go on", async () => {
  const { own } = await newProject();
  const question = await waiting(own, "question");
  expect(await own.call("GET", `/threads/${question.thread_id}`)).toMatchObject({ is_working: true, is_waiting: true });
  expect(await own.call("POST", question.path, { answer: "Tuesday" })).toEqual({ id: question.id, outcome: "answered" });
  expect((await own.ask("POST", question.path, { answer: "Friday" })).status).toBe(409);
  const { messages, ...answered } = await own.call("GET", `/threads/${question.thread_id}`);
  expect(answered).toMatchObject({ is_working: true, is_waiting: false });
  expect(messages).toMatchObject([{ status: "queued" }]);
  const events = await own.stream(question.thread_id, ({ event }) => event === "decided");
  expect(events.at(-1)?.data).toEqual({
    type: "decided",
    message_id: question.message_id,
    id: question.id,
    outcome: "answered",
    answer: "Tuesday",
  });

  const card = await waiting(own, "confirmation");
  expect((await own.ask("POST", card.path, { decision: "perhaps" })).status).toBe(422);
  expect(await own.call("POST", card.path, { decision: "rejected" })).toEqual({ id: card.id, outcome: "rejected" });
  expect((await own.ask("POST", card.path, { decision: "approved" })).status).toBe(409);
  // A question is not decided as a card is, nor the other way round.
  expect((await own.ask("POST", `/confirmations/${question.id}`, { decision: "approved" })).status).toBe(404);
});

test("what a stopped message waited for is rejected, and cannot be decided any more", async () => {
  const { own } = await newProject();
  const card = await waiting(own, "confirmation");
  await own.call("POST", `/threads/${card.thread_id}/stop`);
  const events = await own.stream(card.thread_id, ({ event }) => event === "message_failed");
  expect(events.at(-2)?.data).toMatchObject({ type: "decided", id: card.id, outcome: "rejected" });
  expect((await own.ask("POST", card.path, { decision: "approved" })).status).toBe(409);
});

test("threads are personal, and a viewer has his or her own", async () => {
  const { admin, own } = await newProject();
  const { id } = await own.call("POST", "/threads", {});
  const card = await waiting(own, "confirmation");
  const { user } = await database.newAdmin();
  await addMember(admin, user, "viewer");
  const other = await bridgeOf({ ...admin, user });
  const calls: [string, string, object?][] = [
    ["GET", `/threads/${id}`],
    ["GET", `/threads/${id}/stream`],
    ["PATCH", `/threads/${id}`, { title: "Mine" }],
    ["DELETE", `/threads/${id}`],
    ["POST", `/threads/${id}/messages`, { content: "Hello" }],
    ["POST", `/threads/${id}/stop`],
    ["POST", card.path, { decision: "approved" }],
  ];
  for (const [method, path, body] of calls) expect([path, (await other.ask(method, path, body)).status]).toEqual([path, 404]);
  expect((await other.call("GET", "/threads")).total).toBe(0);
  const mine = await other.call("POST", "/threads", {});
  await other.call("POST", `/threads/${mine.id}/messages`, { content: "Hello" });
  expect((await other.ask("PUT", "/settings", { llm_key_id: null, model: "" })).status).toBe(403);
});

test("an API key opens nothing of it, and a change comes from our own pages only", async () => {
  const { admin, own } = await newProject();
  const { key } = await createPlatformKey(admin, { name: "CI" });
  const { id } = await own.call("POST", "/threads", {});
  const ask = async (method: string, path: string, headers: Record<string, string>) =>
    (await answerApi(new Request(`${ORIGIN}/api/v1/bridge${path}`, { method, headers: { ...headers, "x-project-id": admin.project.id } })))
      .status;
  const { origin: _, ...elsewhere } = own.headers;
  for (const [method, path] of [
    ["GET", "/settings"],
    ["GET", "/threads"],
    ["POST", "/threads"],
    ["GET", `/threads/${id}/stream`],
    ["PATCH", `/threads/${id}`],
    ["DELETE", `/threads/${id}`],
    ["DELETE", "/nothing"],
  ] as const) {
    expect([path, await ask(method, path, {})]).toEqual([path, 401]);
    expect([path, await ask(method, path, { authorization: `Bearer ${key}` })]).toEqual([path, 403]);
    if (method !== "GET") expect([path, await ask(method, path, elsewhere)]).toEqual([path, 403]);
  }
  expect(await own.ask("DELETE", "/nothing")).toMatchObject({ status: 404, data: { error_code: "NOT_FOUND" } });
  expect((await own.ask("PUT", `/threads/${id}`)).status).toBe(405);
});
