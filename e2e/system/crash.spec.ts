import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { readStream } from "#e2e/api/read-stream.ts";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { type ModelServer, startModelServer } from "#e2e/fakes/model-server.ts";
import { preparedDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, noLimits, signedIn } from "#e2e/system/install.ts";
import { startNodes } from "#e2e/system/nodes-under-way.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import { ExecuteResult, Execution, ExecutionLogs } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

// One install, whose process is killed, told to stop, and killed three times more. The same run is under way at its first four ends,
// and never gets past its one call; at the first two there are also a run that goes on, and the assistant; at the last three, nodes of
// all kinds that reach out and wait.

const key = `sk-service-${"crashing".repeat(5)}`;
const position = { x: 0, y: 0 };

test.describe.configure({ mode: "serial" });

let models: ModelServer;
let place: { dataDir: string; port: number; env: Record<string, string> };
let server: Treadle;
let api: ApiClient;
let llmKeyId: string;
let scoutId: string;
/** Processes that have ended. */
let ends = 0;
let deadly: { id: string; mark: string };

test.beforeAll(async () => {
  models = await startModelServer();
  place = { dataDir: preparedDataDir(), port: await freePort(), env: { ...firstUser(key), ...noLimits, ALLOW_PRIVATE_NETWORK: "1" } };
  server = await startTreadle(place);
  api = apiClient({ url: server.url, key });
  const { body: llm } = await api.post(
    "/llm-keys",
    { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url },
    { schema: LlmKey, status: 201 },
  );
  llmKeyId = llm.id;
  scoutId = await newAgent("Scout", "echo");
  deadly = await startDeadly();
});
test.afterAll(async () => {
  await server.stop();
  await models.stop();
});

const newAgent = async (name: string, model: string): Promise<string> =>
  (await api.post("/agents", { name, model, llm_key_id: llmKeyId }, { schema: Agent, status: 201 })).body.id;
const execute = async (workflowId: string, input: string): Promise<string> =>
  (await api.post(`/workflows/${workflowId}/execute`, { input }, { schema: ExecuteResult, status: 202 })).body.execution_id;
const ended = (id: string, ms: number): Promise<Execution> =>
  until(async () => {
    const { body } = await api.get(`/executions/${id}`, { schema: Execution });
    return isFinal(body.status) ? body : undefined;
  }, ms);

/** A run whose one call is never answered: no process ends but in the middle of it. */
async function startDeadly() {
  const mark = randomUUID();
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Weigh", agent_id: await newAgent("Heavy", `gate-${mark}`), input: mark } },
  ];
  const graph = { name: "Deadly", nodes, edges: [{ id: "1", source: "t", target: "a" }] };
  const { body: flow } = await api.post("/workflows", graph, { schema: Workflow, status: 201 });
  return { id: await execute(flow.id, mark), mark };
}
const deadlyCalls = () => models.calls({ contains: deadly.mark });

/** Ends the process in the middle of the deadly run's call, and starts the next one. */
async function outlive(end: (process: Treadle) => Promise<unknown>, meanwhile?: () => Promise<void>): Promise<void> {
  await until(() => deadlyCalls().length === ends + 1 && deadlyCalls()[ends]?.outcome === "waiting", 60_000);
  await end(server);
  ends++;
  await meanwhile?.();
  server = await startTreadle(place);
}

/**
 * A run whose second agent is being called.
 * @param answers whether somebody waits for the end of another such run
 */
async function startDurable(answers: boolean) {
  const mark = randomUUID();
  const gate = `crash-${mark}`;
  const writerId = await newAgent(`Writer ${mark}`, `gate-${gate}`);
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Research", agent_id: scoutId, input: "scout {{trigger.output}}" } },
    { id: "b", type: "agentNode", position, data: { label: "Write", agent_id: writerId, input: "write {{Scout.output}}" } },
    { id: "o", type: "outputNode", position, data: { label: "Result" } },
  ];
  const edges = [
    { id: "1", source: "t", target: "a" },
    { id: "2", source: "a", target: "b" },
    { id: "3", source: "b", target: "o" },
  ];
  const { body: flow } = await api.post("/workflows", { name: "Durable", nodes, edges }, { schema: Workflow, status: 201 });
  const id = await execute(flow.id, mark);
  const callsOf = (words: string) => models.calls({ contains: `${words} ${mark}` });

  const http = { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "http", response_mode: "sync" } };
  const waits = { id: "b", type: "agentNode", position, data: { label: "Write", agent_id: writerId, input: `wait ${mark}` } };
  const called = { name: "Called", nodes: [http, waits], edges: [{ id: "1", source: "t", target: "b" }] };
  const { body: sync } = await api.post("/workflows", called, { schema: Workflow, status: 201 });
  const call = answers ? api.post(`/http/${sync.id}`, {}, { status: 202 }) : undefined;
  await until(() => callsOf("write Echo: scout")[0]?.outcome === "waiting" && (!answers || callsOf("wait").length > 0));

  let answer: Awaited<typeof call>;
  return {
    /** The process that ends has made no call again, and has answered who waits. */
    async expectLeft() {
      expect(callsOf("write Echo: scout")).toHaveLength(1);
      answer = await call;
    },
    async expectGoesOn() {
      models.release(gate);
      const run = await ended(id, 120_000);
      if (answer) {
        const { body: waited } = await api.get(`/executions/${answer.body.execution_id}`, { schema: Execution });
        expect(waited).toMatchObject({ workflow_id: sync.id, trigger: "http" });
      }

      expect(run).toMatchObject({ status: "completed", error: null, output: `Waited at ${gate}: write Echo: scout ${mark}` });
      expect(models.calls({ contains: `scout ${mark}`, model: "echo" })).toHaveLength(1);
      expect(callsOf("write Echo: scout").map(({ outcome }) => outcome)).toEqual(["aborted", "answered"]);
      expect(run.node_results.a).toMatchObject({ status: "complete", attempt: 1 });
      expect(run.node_results.b).toMatchObject({ status: "complete", attempt: 2 });

      const { body: logs } = await api.get(`/executions/${id}/logs`, { schema: ExecutionLogs });
      expect(logs.items.filter(({ node_id }) => node_id === "b").map(({ attempt }) => attempt)).toEqual([1, 2]);
      const events = await readStream(`${server.url}/api/v1/executions/${id}/stream?token=${key}`);
      expect(events.filter(({ event }) => event === "execution_complete" || event === "execution_failed")).toHaveLength(1);
      expect(events.at(-1)).toMatchObject({ event: "execution_complete", data: { status: "completed" } });
    },
  };
}

/** The assistant in the middle of a sentence, with the next message behind it; and waiting for an answer in another thread. */
async function startTalk() {
  const [script, gate] = [randomUUID(), randomUUID()];
  models.script(script, [
    { when: "Begin", say: "I have begun and now this", gate },
    { when: "Ask", calls: [{ name: "ask_user", args: { question: "Which?", options: [] } }] },
    { when: "Go on", say: "I go on." },
  ]);
  const call = await signedIn(server.url);
  await call("PUT", "/bridge/settings", { llm_key_id: llmKeyId, model: `script-${script}` });
  const thread = async (content: string): Promise<string> => {
    const { id } = await call("POST", "/bridge/threads", {});
    await call("POST", `/bridge/threads/${id}/messages`, { content });
    return id;
  };
  const messages = async (id: string) => (await call("GET", `/bridge/threads/${id}`)).messages;
  const [spoken, asked] = [await thread("Begin"), await thread("Ask me")];
  await until(async () => (await messages(spoken))[0].answer === "I have" && (await messages(asked))[0].status === "waiting");
  await call("POST", `/bridge/threads/${spoken}/messages`, { content: "Go on" });

  return {
    async expectSaysSo() {
      // The sweep asks again for a request that was lost with its process.
      await until(async () => (await messages(spoken))[1].status === "done", 120_000);
      expect(await messages(spoken)).toMatchObject([
        { status: "failed", answer: "I have", error: expect.stringContaining("cut off") },
        { status: "done", answer: "I go on." },
      ]);
      expect(await messages(asked)).toMatchObject([{ status: "failed", error: expect.stringContaining("cut off") }]);
    },
  };
}

/** Ends a process in this way while a run and the assistant are at work, and proves in the next one what has become of each. */
function provedInTheNext(end: (process: Treadle) => Promise<unknown>, names: { run: string; assistant: string }, answers = false): void {
  let run: Awaited<ReturnType<typeof startDurable>>;
  let talk: Awaited<ReturnType<typeof startTalk>>;
  test.beforeAll(async () => {
    run = await startDurable(answers);
    talk = await startTalk();
    await outlive(end, run.expectLeft);
  });
  test(names.run, () => run.expectGoesOn());
  test(names.assistant, () => {
    test.setTimeout(150_000);
    return talk.expectSaysSo();
  });
}

test.describe("kill -9", { tag: "@main" }, () =>
  provedInTheNext((process) => process.kill9(), {
    run: "in the middle of an agent's call: the run goes on by itself, and no finished call is made again",
    assistant: "while the assistant speaks: what it said is kept, it says that it was cut off, and goes on with the next message",
  }),
);

test.describe("a process that is told to stop", () =>
  provedInTheNext(
    (process) => process.stop(),
    {
      run: "in the middle of an agent's call leaves the run to the next one, and says so to a caller who waits",
      assistant: "while the assistant speaks says so at once, and leaves the next message to the next process",
    },
    true,
  ));

let nodes: Awaited<ReturnType<typeof startNodes>>;

test("kill -9 while calls, waits, loops and other runs are under way: each goes on", async () => {
  nodes = await startNodes(api, models);
  await outlive((process) => process.kill9());
  await nodes.expectGoesOn();
});

test("a run under which the process dies three times is failed with the reason by the fourth, which stays up; a stop that was asked for does not count", async () => {
  expect(ends, "it was killed, told to stop, and killed").toBe(3);
  await outlive((process) => process.kill9());
  const failed = await ended(deadly.id, 60_000);
  expect(failed).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/stopped 3 times in a row .*"Weigh".* It is not started again/),
  });
  expect(failed.node_results.a?.status).not.toBe("running");
  expect(deadlyCalls()).toHaveLength(4);
});

test("a call over HTTP that kill -9 cut is made once more, with its key; when it is cut again, its failure is told once", async () => {
  await nodes.expectGivenUp();
  await server.kill9();
  server = await startTreadle(place);
  await nodes.expectToldOnce();
});
