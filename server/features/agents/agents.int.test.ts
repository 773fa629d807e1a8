import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { WRONG_KEY } from "#e2e/fakes/model-server.ts";
import { runAgentCall } from "#server/features/agents/run-agent-call.ts";
import { createAgent, deleteAgent, getAgent, updateAgent } from "#server/features/agents/service.ts";
import { createLlmKey, deleteLlmKey, listModels } from "#server/features/llm-keys/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { serveHttp } from "#server/testing/start-http-server.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();

async function adminWithKey(api_key = "test-key-0123456789") {
  const admin = await database.newAdmin();
  const key = await createLlmKey(admin, { name: "Main", provider: "openai_compatible", api_key, base_url: models.url });
  return { admin, key };
}

const newAgent = (admin: ProjectPrincipal, llm_key_id: string, more: object = {}) =>
  createAgent(admin, { name: "Scout", model: "echo", llm_key_id, ...more });

async function newWorkflow(admin: ProjectPrincipal, name: string, agent_id: string) {
  return db().workflow.create({
    data: { project_id: admin.project.id, name, trigger: "manual", snapshot_id: randomUUID(), agent_uses: { create: { agent_id } } },
  });
}

test("a key is stored encrypted and opens again for a call", async () => {
  const { admin, key } = await adminWithKey();
  const row = await db().llmKey.findUniqueOrThrow({ where: { id: key.id } });
  expect(JSON.stringify([row, key])).not.toContain("test-key-0123456789");
  await expect(listModels(admin, { key_id: key.id })).resolves.toMatchObject({ source: "live" });
});

test("saving makes one small live call with the key, the model and the temperature", async () => {
  const { admin, key } = await adminWithKey();
  await newAgent(admin, key.id, { temperature: 0.5, max_tokens: 4000, system_prompt: "Long instructions" });
  expect(models.calls().map(({ request }) => request)).toEqual([
    { model: "echo", messages: [{ role: "user", content: "Reply with OK." }], temperature: 0.5, max_tokens: 16, stream: false },
  ]);
});

test("nothing is saved when the live call fails", async () => {
  const { admin, key } = await adminWithKey(WRONG_KEY);
  await expect(newAgent(admin, key.id)).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
    message: expect.stringMatching(
      /^OpenAI-compatible answered 401: Incorrect API key provided: wron\*{4}-key\. Check the LLM key "Main" \(model echo\)\./,
    ),
  });
  expect(await db().agent.count({ where: { project_id: admin.project.id } })).toBe(0);
});

test("a refused change leaves the agent as it was", async () => {
  const { admin, key } = await adminWithKey();
  const agent = await newAgent(admin, key.id);
  await expect(updateAgent(admin, { agent_id: agent.id, name: "Other", model: "status-404" })).rejects.toMatchObject({
    code: "UPSTREAM_ERROR",
  });
  await expect(getAgent(admin, { agent_id: agent.id })).resolves.toEqual(agent);
});

test("only a change of what the provider is asked with makes a live call", async () => {
  const { admin, key } = await adminWithKey();
  const agent = await newAgent(admin, key.id);
  models.reset();
  await updateAgent(admin, { agent_id: agent.id, name: "Renamed", system_prompt: "New", llm_key_id: key.id, model: "echo" });
  expect(models.calls()).toEqual([]);
  await updateAgent(admin, { agent_id: agent.id, model: "parrot" });
  await updateAgent(admin, { agent_id: agent.id, temperature: 1 });
  expect(models.calls().map((call) => call.model)).toEqual(["parrot", "parrot"]);
  await expect(getAgent(admin, { agent_id: agent.id })).resolves.toMatchObject({
    name: "Renamed",
    system_prompt: "New",
    model: "parrot",
    temperature: 1,
  });
  // What is sent again as it is changes nothing, not even the time of the last change.
  const now = await getAgent(admin, { agent_id: agent.id });
  await expect(updateAgent(admin, { agent_id: agent.id, temperature: 1, tools: [] })).resolves.toMatchObject(now);
  expect(now.updated_at > agent.updated_at).toBe(true);
});

test("two agents saved at once under one name: one is refused", async () => {
  const { admin, key } = await adminWithKey();
  const results = await Promise.allSettled([newAgent(admin, key.id), newAgent(admin, key.id)]);
  expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
  expect(results.find((result) => result.status === "rejected")?.reason).toMatchObject({ code: "CONFLICT" });
});

test("a call sends the instructions, the earlier turns and the message, and gives the pieces as they come", async () => {
  const { admin, key } = await adminWithKey();
  const agent = await newAgent(admin, key.id, { system_prompt: "Be brief.", max_tokens: 100 });
  models.reset();
  const pieces: string[] = [];
  const result = await runAgentCall({
    project_id: admin.project.id,
    agent_id: agent.id,
    message: "hello there",
    history: [
      { role: "user", content: "hi" },
      { role: "assistant", content: "yes?" },
    ],
    timeoutMs: 10_000,
    retries: 0,
    onDelta: (piece) => pieces.push(piece),
  });
  expect(pieces.join("")).toBe("Echo: hello there");
  expect(result).toEqual({
    text: "Echo: hello there",
    model: "echo",
    provider: "openai_compatible",
    cost: null,
    input_tokens: 6,
    cached_tokens: 0,
    output_tokens: 3,
    tool_calls: [],
  });
  expect(models.calls()[0]?.request.messages.map(({ role, content }) => [role, content])).toEqual([
    ["system", "Be brief."],
    ["user", "hi"],
    ["assistant", "yes?"],
    ["user", "hello there"],
  ]);
});

test("an agent cannot be called, read or deleted from another project", async () => {
  const { admin, key } = await adminWithKey();
  const agent = await newAgent(admin, key.id);
  const stranger = await database.newAdmin();
  const missing = { code: "NOT_FOUND", message: "There is no such agent in this project." };
  await expect(
    runAgentCall({ project_id: stranger.project.id, agent_id: agent.id, message: "hi", timeoutMs: 1000, retries: 0 }),
  ).rejects.toMatchObject(missing);
  await expect(getAgent(stranger, { agent_id: agent.id })).rejects.toMatchObject(missing);
  await expect(deleteAgent(stranger, { agent_id: agent.id })).rejects.toMatchObject(missing);
  await expect(newAgent(stranger, key.id)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "llm_key_id" }] });
});

test("an agent in a workflow stays, one in a deleted workflow may go", async () => {
  const { admin, key } = await adminWithKey();
  const agent = await newAgent(admin, key.id);
  const workflow = await newWorkflow(admin, "Digest", agent.id);
  await expect(deleteAgent(admin, { agent_id: agent.id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: 'The agent is used in the workflow "Digest". Take it out there first.',
  });
  await db().workflow.update({ where: { id: workflow.id }, data: { deleted_at: new Date() } });
  await deleteAgent(admin, { agent_id: agent.id });
  await expect(getAgent(admin, { agent_id: agent.id })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a key in use stays and the refusal names its users; both leave their trace in the audit log", async () => {
  const { admin, key } = await adminWithKey();
  const scout = await newAgent(admin, key.id);
  const writer = await newAgent(admin, key.id, { name: "Writer" });
  await expect(deleteLlmKey(admin, { key_id: key.id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: 'The key is used by the agents "Scout" and "Writer". Choose another key there first.',
  });
  await deleteAgent(admin, { agent_id: scout.id });
  await deleteAgent(admin, { agent_id: writer.id });
  await deleteLlmKey(admin, { key_id: key.id });
  const entries = await db().auditEntry.findMany({ where: { project_id: admin.project.id }, orderBy: { id: "asc" } });
  expect(entries.map(({ action, resource_name }) => `${action} ${resource_name}`)).toEqual([
    "llm_key.create Main",
    "agent.create Scout",
    "agent.create Writer",
    "agent.delete Scout",
    "agent.delete Writer",
    "llm_key.delete Main",
  ]);
});

test("a model that spends the few tokens on thinking is accepted", async () => {
  const message =
    "Could not finish the message because max_tokens or model output limit was reached. Please try again with higher max_tokens.";
  const server = await serveHttp((response) => response.writeHead(400).end(JSON.stringify({ error: { message } })));
  const admin = await database.newAdmin();
  const key = await createLlmKey(admin, { name: "Thinker", provider: "openai", api_key: "sk-123456789", base_url: server.url });
  await expect(newAgent(admin, key.id, { model: "o9" })).resolves.toMatchObject({ model: "o9" });
});

test("a change that begins from an agent as it is no longer is refused with who saved it and what, and one without the time is not", async () => {
  const { admin, key } = await adminWithKey();
  const { id: agent_id, updated_at } = await newAgent(admin, key.id);
  const change = (more: object) => updateAgent(admin, { agent_id, ...more });
  const second = await change({ system_prompt: "Be brief.", if_unchanged_since: updated_at });
  await change({ max_tokens: 50 });
  models.reset();
  const { name } = await db().user.findUniqueOrThrow({ where: { id: admin.user.id } });
  for (const [since, changed] of [
    [updated_at, "max_tokens, system_prompt"],
    [second.updated_at, "max_tokens"],
  ])
    await expect(change({ model: "parrot", if_unchanged_since: since })).rejects.toMatchObject({
      code: "CONFLICT",
      message: `${name} saved this agent after you loaded it (changed: ${changed}). Load it again, or leave if_unchanged_since out to write over that.`,
      errors: [{ path: "if_unchanged_since" }],
    });
  expect(models.calls()).toEqual([]);
  expect(await getAgent(admin, { agent_id })).toMatchObject({ model: "echo", system_prompt: "Be brief.", max_tokens: 50 });
  expect(await change({ model: "parrot" })).toMatchObject({ model: "parrot" });
});

test("of two changes that begin from the same agent and are saved at once, one is refused", async () => {
  const { admin, key } = await adminWithKey();
  const { id: agent_id, updated_at: if_unchanged_since } = await newAgent(admin, key.id);
  const ends = await Promise.allSettled(
    ["One", "Two"].map((description) => updateAgent(admin, { agent_id, description, temperature: 0.5, if_unchanged_since })),
  );
  const refusals = ends.flatMap((end) => (end.status === "rejected" ? [end.reason] : []));
  expect(refusals).toMatchObject([{ code: "CONFLICT", message: expect.stringContaining("saved this agent after you loaded it") }]);
});
