import { randomUUID } from "node:crypto";
import { expect, test } from "@playwright/test";
import { readStream } from "#e2e/api/read-stream.ts";
import { apiClient } from "#e2e/api-client.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { preparedDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult, Execution, ExecutionLogs } from "#server/runs/schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";

const key = `sk-service-${"crashing".repeat(5)}`;
const env = firstUser(key);
const position = { x: 0, y: 0 };

test("kill -9 in the middle of an agent's call: the run goes on by itself, and no finished call is made again", () =>
  proveThatItGoesOn((server) => server.kill9()));

test("a process that is told to stop in the middle of an agent's call leaves the run to the next one, and says so to a caller who waits", () =>
  proveThatItGoesOn((server) => server.stop(), true));

test("a run under which the process dies three times is failed with the reason by the fourth, which stays up; a stop that was asked for does not count", async () => {
  const models = await startModelServer();
  const dataDir = preparedDataDir();
  let server = await startTreadle({ dataDir, env });
  const post = apiClient({ url: server.url, key }).post;
  const mark = randomUUID();
  const { body: llm } = await post(
    "/llm-keys",
    { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url },
    { schema: LlmKey, status: 201 },
  );
  const { body: agent } = await post(
    "/agents",
    { name: "Heavy", model: `gate-${mark}`, llm_key_id: llm.id },
    { schema: Agent, status: 201 },
  );
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Weigh", agent_id: agent.id, input: mark } },
  ];
  const { body: flow } = await post(
    "/workflows",
    { name: "Deadly", nodes, edges: [{ id: "1", source: "t", target: "a" }] },
    { schema: Workflow, status: 201 },
  );
  const { body: run } = await post(`/workflows/${flow.id}/execute`, { input: mark }, { schema: ExecuteResult, status: 202 });
  const calls = () => models.calls({ contains: mark });
  for (const [life, stop] of [() => server.kill9(), () => server.stop(), () => server.kill9(), () => server.kill9()].entries()) {
    await until(() => calls().length === life + 1 && calls()[life]?.outcome === "waiting", 60_000);
    await stop();
    server = await startTreadle({ dataDir, env });
  }
  const { get } = apiClient({ url: server.url, key });
  const ended = await until(async () => {
    const { body } = await get(`/executions/${run.execution_id}`, { schema: Execution });
    return isFinal(body.status) ? body : undefined;
  }, 60_000);
  expect(ended).toMatchObject({
    status: "failed",
    error: expect.stringMatching(/stopped 3 times in a row .*"Weigh".* It is not started again/),
  });
  expect(ended.node_results.a?.status).not.toBe("running");
  expect(calls()).toHaveLength(4);
  await server.stop();
  await models.stop();
});

/**
 * Stops a process while an agent of a run is being called, and follows the run through the next one.
 * @param answers whether the process still answers a call that waits for the end of another run
 */
async function proveThatItGoesOn(stop: (server: Treadle) => Promise<unknown>, answers = false): Promise<void> {
  const models = await startModelServer();
  const dataDir = preparedDataDir();
  const first = await startTreadle({ dataDir, env });
  const api = apiClient({ url: first.url, key });
  const mark = randomUUID();
  const gate = `crash-${mark}`;

  const { body: llm } = await api.post(
    "/llm-keys",
    { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url },
    { schema: LlmKey, status: 201 },
  );
  const agent = async (name: string, model: string) =>
    (await api.post("/agents", { name, model, llm_key_id: llm.id }, { schema: Agent, status: 201 })).body;
  const [scout, writer] = [await agent("Scout", "echo"), await agent("Writer", `gate-${gate}`)];
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position, data: { label: "Research", agent_id: scout.id, input: "scout {{trigger.output}}" } },
    { id: "b", type: "agentNode", position, data: { label: "Write", agent_id: writer.id, input: "write {{Scout.output}}" } },
    { id: "o", type: "outputNode", position, data: { label: "Result" } },
  ];
  const edges = [
    { id: "1", source: "t", target: "a" },
    { id: "2", source: "a", target: "b" },
    { id: "3", source: "b", target: "o" },
  ];
  const { body: flow } = await api.post("/workflows", { name: "Durable", nodes, edges }, { schema: Workflow, status: 201 });
  const { body: run } = await api.post(`/workflows/${flow.id}/execute`, { input: mark }, { schema: ExecuteResult, status: 202 });
  const callsOf = (words: string) => models.calls({ contains: `${words} ${mark}` });

  const http = { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "http", response_mode: "sync" } };
  const waits = { id: "b", type: "agentNode", position, data: { label: "Write", agent_id: writer.id, input: `wait ${mark}` } };
  const called = { name: "Called", nodes: [http, waits], edges: [{ id: "1", source: "t", target: "b" }] };
  const { body: sync } = await api.post("/workflows", called, { schema: Workflow, status: 201 });
  const call = answers ? api.post(`/http/${sync.id}`, {}, { status: 202 }) : undefined;

  await until(() => callsOf("write Echo: scout")[0]?.outcome === "waiting" && (!answers || callsOf("wait").length > 0));
  await stop(first);
  expect(callsOf("write Echo: scout")).toHaveLength(1);
  const answer = await call;

  const second = await startTreadle({ dataDir, env });
  models.release(gate);
  const again = apiClient({ url: second.url, key });
  const ended = await until(async () => {
    const { body } = await again.get(`/executions/${run.execution_id}`, { schema: Execution });
    return isFinal(body.status) ? body : undefined;
  }, 120_000);

  if (answer) {
    const { body: waited } = await again.get(`/executions/${answer.body.execution_id}`, { schema: Execution });
    expect(waited).toMatchObject({ workflow_id: sync.id, trigger: "http" });
  }

  expect(ended).toMatchObject({ status: "completed", error: null, output: `Waited at ${gate}: write Echo: scout ${mark}` });
  expect(models.calls({ contains: `scout ${mark}`, model: "echo" })).toHaveLength(1);
  expect(callsOf("write Echo: scout").map(({ outcome }) => outcome)).toEqual(["aborted", "answered"]);
  expect(ended.node_results.a).toMatchObject({ status: "complete", attempt: 1 });
  expect(ended.node_results.b).toMatchObject({ status: "complete", attempt: 2 });

  const { body: logs } = await again.get(`/executions/${run.execution_id}/logs`, { schema: ExecutionLogs });
  expect(logs.items.filter(({ node_id }) => node_id === "b").map(({ attempt }) => attempt)).toEqual([1, 2]);
  const events = await readStream(`${second.url}/api/v1/executions/${run.execution_id}/stream?token=${key}`);
  expect(events.filter(({ event }) => event === "execution_complete" || event === "execution_failed")).toHaveLength(1);
  expect(events.at(-1)).toMatchObject({ event: "execution_complete", data: { status: "completed" } });

  await second.stop();
  await models.stop();
}
