import { randomUUID } from "node:crypto";
import { readStream, type WireEvent } from "#e2e/api/read-stream.ts";
import type { ScriptStep } from "#e2e/fakes/scripted-model.ts";
import { expect, type Person, test } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { AssistantSettings, Thread, ThreadEvent, ThreadSummary } from "#server/features/assistant/schema.ts";

// The assistant as the web app calls it: over HTTP, with a browser's session. What it does is proved in server/features/assistant.

const BRIDGE = "/api/v1/bridge";

/** What a person's browser sends to the web app's own part of the API. */
function bridgeOf({ browser }: Person, baseURL: string) {
  return {
    async call(method: string, path: string, status: number, data?: object) {
      const answer = await browser.fetch(`${BRIDGE}${path}`, { method, ...(data && { data }) });
      const text = await answer.text();
      expect(answer.status(), `${method} ${path}: ${text}`).toBe(status);
      return text === "" ? undefined : JSON.parse(text);
    },
    async stream(id: string, isEnough: (event: WireEvent) => boolean, after?: string) {
      const { cookies } = await browser.storageState();
      const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
      const headers = { cookie, ...(after !== undefined && { "last-event-id": after }) };
      return readStream(`${baseURL}${BRIDGE}/threads/${id}/stream`, headers, isEnough);
    },
  };
}

test("a thread over HTTP: a question, its answer, the stream from where one was, and its end", async ({
  person,
  baseURL,
  modelServer,
  llmKey,
}) => {
  const { call, stream } = bridgeOf(person, baseURL);
  const script = randomUUID();
  const steps: ScriptStep[] = [
    {
      when: "Build",
      say: "Let me ask.",
      calls: [{ name: "ask_user", args: { question: "On which day?", options: ["Monday", "Friday"] } }],
    },
    { when: "Build", say: "So on a Friday." },
    { when: "Thanks", say: "Gladly." },
  ];
  await modelServer.script(script, steps);
  expect(AssistantSettings.parse(await call("GET", "/settings", 200))).toMatchObject({ ready: false });
  await call("PUT", "/settings", 200, { llm_key_id: (await llmKey()).id, model: `script-${script}` });
  const { id } = ThreadSummary.parse(await call("POST", "/threads", 201, {}));
  const { message_id } = await call("POST", `/threads/${id}/messages`, 202, { content: "Build a digest" });

  const before = await stream(id, ({ event }) => event === "question");
  for (const { event, data } of before) expect(ThreadEvent.parse(data)).toMatchObject({ type: event, message_id });
  expect(before.map((event) => event.id)).toEqual(before.map((_, index) => String(index + 1)));
  const question = before.at(-1);
  expect(question?.data).toMatchObject({ text: "On which day?", options: ["Monday", "Friday"] });

  // A viewer who goes on from there gets nothing twice, and stays for the next message.
  const after = stream(id, ({ event, data }) => event === "message_done" && data.message_id !== message_id, question?.id);
  await call("POST", `/questions/${question?.data.id}`, 200, { answer: "Friday" });
  await call("POST", `/questions/${question?.data.id}`, 409, { answer: "Monday" });
  await until(async () => (await call("GET", `/threads/${id}`, 200)).is_working === false);
  await call("POST", `/threads/${id}/messages`, 202, { content: "Thanks" });
  const events = await after;
  expect(events.map((event) => Number(event.id))).toEqual(events.map((_, index) => before.length + index + 1));
  expect(events.filter(({ event }) => event === "message_done")).toHaveLength(2);

  const thread = Thread.parse(await call("GET", `/threads/${id}`, 200));
  expect(thread).toMatchObject({ title: "Build a digest", is_working: false });
  expect(thread.messages.map(({ status, answer }) => [status, answer])).toEqual([
    ["done", "Let me ask.\n\nSo on a Friday."],
    ["done", "Gladly."],
  ]);
  expect(await call("PATCH", `/threads/${id}`, 200, { title: "Digest" })).toMatchObject({ title: "Digest" });
  expect(await call("GET", "/threads", 200)).toMatchObject({ items: [{ id, title: "Digest" }], total: 1 });
  await call("DELETE", `/threads/${id}`, 204);
  await call("GET", `/threads/${id}`, 404);
});

test("the work goes on without a viewer, and a stop ends it at once", async ({ person, baseURL, modelServer, llmKey }) => {
  const { call, stream } = bridgeOf(person, baseURL);
  const [script, gate] = [randomUUID(), randomUUID()];
  await modelServer.script(script, [{ say: "This will take a while", gate }]);
  await call("PUT", "/settings", 200, { llm_key_id: (await llmKey()).id, model: `script-${script}` });
  const { id } = await call("POST", "/threads", 201, {});
  await call("POST", `/threads/${id}/messages`, 202, { content: `Go ${gate}` });
  await call("POST", `/threads/${id}/messages`, 202, { content: "And then this" });
  await until(async () => (await call("GET", `/threads/${id}`, 200)).messages[0].answer === "This will");
  await call("POST", `/threads/${id}/stop`, 200);
  const events = await stream(id, ({ event, data }) => event === "message_failed" && data.error === "Stopped.");
  expect(events.at(-1)?.data).toMatchObject({ stopped: true });
  await until(async () => (await call("GET", `/threads/${id}`, 200)).is_working === false);
  const { messages } = await call("GET", `/threads/${id}`, 200);
  expect(messages.map(({ status, answer }: Thread["messages"][number]) => [status, answer])).toEqual([
    ["stopped", "This will"],
    ["stopped", ""],
  ]);
  const calls = await modelServer.calls({ contains: gate });
  expect(calls).toHaveLength(1);
});
