import { readStream } from "#e2e/api/read-stream.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { until } from "#e2e/until.ts";
import { ExecutionEvent } from "#server/runs/event-schema.ts";
import { ExecuteResult, Execution, ExecutionLogs, ExecutionPage, ExecutionSummary } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

const position = { x: 0, y: 0 };
const manual = (data = {}) => ({ id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual", ...data } });
const agentNode = (id: string, agent_id: string, data = {}) => ({
  id,
  type: "agentNode",
  position,
  data: { label: id, agent_id, ...data },
});
const output = (id: string, data = {}) => ({ id, type: "outputNode", position, data: { label: id, ...data } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });
const askingOnce = (agentId: string) => ({
  nodes: [manual(), agentNode("a", agentId), output("o")],
  edges: [edge("t", "a"), edge("a", "o")],
});

test("execute, poll, logs, lists: trigger → agent → output", async ({ api, agent, workflow, finished }) => {
  const scout = await agent({ name: "Scout", model: "echo" });
  const nodes = [
    manual(),
    agentNode("Research", scout.id, { input: "Find {{trigger.output}}" }),
    output("Result", { value: "<{{Scout.output}}>" }),
  ];
  const flow = await workflow({ nodes, edges: [edge("t", "Research"), edge("Research", "Result")] });
  const { body: started } = await api.post(`/workflows/${flow.id}/execute`, { input: "tea" }, { schema: ExecuteResult, status: 202 });
  expect(started.status).toBe("pending");

  const run = await finished(started.execution_id);
  expect(run).toMatchObject({ status: "completed", trigger: "manual", input: "tea", output: "<Echo: Find tea>", version: 1, error: null });
  expect(run.outputs).toEqual([{ node_id: "Result", label: "Result", format: "passthrough", value: "<Echo: Find tea>" }]);
  expect(run.node_results.Research).toMatchObject({ status: "complete", output: "Echo: Find tea", attempt: 1 });
  expect(run.node_results.Research?.output_tokens).toBeGreaterThan(0);
  expect(run.input_tokens).toBe(run.node_results.Research?.input_tokens);

  const { body: logs } = await api.get(`/executions/${run.id}/logs`, { schema: ExecutionLogs });
  expect(logs.items.map((item) => [item.node_id, item.status, item.input])).toEqual([
    ["t", "complete", "tea"],
    ["Research", "complete", "Find tea"],
    ["Result", "complete", "<Echo: Find tea>"],
  ]);
  expect(logs.items[1]?.model).toBe("echo");

  const { body: list } = await api.get(`/executions?workflow_id=${flow.id}&status=completed`, { schema: ExecutionPage });
  expect(list.items.map((item) => item.id)).toEqual([run.id]);
  const { body: none } = await api.get(`/executions?workflow_id=${flow.id}&status=failed`, { schema: ExecutionPage });
  expect(none.total).toBe(0);
  const { body: bare } = await api.get(`/workflows/${flow.id}/executions?limit=5`, { schema: ExecutionSummary.array() });
  expect(bare.map((item) => item.id)).toEqual([run.id]);
  await api.get(`/workflows/${flow.id}/executions?limit=201`, { schema: ErrorBody, status: 422 });
  await api.get("/executions?status=finished", { schema: ErrorBody, status: 422 });
});

test("a params trigger takes params: explicit ones override, the others keep their defaults, coerced", async ({
  api,
  workflow,
  executed,
}) => {
  const parameters = [
    { name: "city", label: "City", type: "text", required: true },
    { name: "days", label: "Days", type: "number", required: false, default: "3" },
    { name: "metric", label: "Metric", type: "boolean", required: false, default: "true" },
  ];
  const value = "{{trigger.city}} {{trigger.days}} {{trigger.metric}} {{trigger.output.days}}";
  const flow = await workflow({ nodes: [manual({ kind: "params", parameters }), output("o", { value })], edges: [edge("t", "o")] });
  expect(await executed(flow, { params: { city: "Oslo", metric: "false" } })).toMatchObject({
    status: "completed",
    trigger: "params",
    output: "Oslo 3 false 3",
  });

  const refused = async (data: object) =>
    (await api.post(`/workflows/${flow.id}/execute`, data, { schema: ErrorBody, status: 422 })).body.errors?.[0]?.path;
  expect(await refused({})).toBe("params.city");
  expect(await refused({ params: { city: "Oslo", days: "soon" } })).toBe("params.days");
  expect(await refused({ params: { city: "Oslo", dayz: 1 } })).toBe("params.dayz");
  expect(await refused({ params: { city: "Oslo" }, inputs: "typo" })).toBe("inputs");
});

test("a run without input uses the trigger's default", async ({ workflow, executed }) => {
  const flow = await workflow({ nodes: [manual({ default_input: "from the trigger" }), output("o")], edges: [edge("t", "o")] });
  expect(await executed(flow)).toMatchObject({ output: "from the trigger" });
});

test("the stream tells the whole run, replays after Last-Event-ID, and ends with one terminal event", async ({
  api,
  agent,
  workflow,
  modelServer,
  baseURL,
  execute,
}) => {
  const gate = `stream-${crypto.randomUUID()}`;
  const scout = await agent({ model: `gate-${gate}` });
  const flow = await workflow(askingOnce(scout.id));
  const url = `${baseURL}/api/v1/executions/${await execute(flow, { input: "go" })}/stream`;

  const live = await readStream(`${url}?token=${api.key}`, {}, ({ event }) => {
    if (event === "node_delta") void modelServer.release(gate);
    return false;
  });
  for (const { event, data } of live) expect(ExecutionEvent.parse(data).type).toBe(event);
  const kinds = live.map(({ event, data }) => `${event} ${data.node_id ?? ""}`.trim());
  expect(kinds.filter((kind) => kind !== "node_delta a")).toEqual([
    "node_start t",
    "node_complete t",
    "node_start a",
    "node_complete a",
    "node_start o",
    "node_complete o",
    "execution_complete",
  ]);
  const pieces = live.filter(({ event }) => event === "node_delta").map(({ data }) => data.content);
  const answer = String(live.find(({ event, data }) => event === "node_complete" && data.node_id === "a")?.data.output);
  expect(pieces.length).toBeGreaterThan(0);
  expect(answer.startsWith(pieces.join(""))).toBe(true);
  const ids = live.map(({ id }) => Number(id));
  expect(ids).toEqual([...ids].sort((a, b) => a - b));

  const bearer = { authorization: `Bearer ${api.key}` };
  const again = await readStream(url, bearer);
  expect(again).toEqual(live.filter(({ event }) => event !== "node_delta"));
  const third = again[2]?.id ?? "";
  expect(await readStream(url, { ...bearer, "last-event-id": third })).toEqual(again.slice(3));
  expect(await readStream(`${url}?last_event_id=${third}`, bearer)).toEqual(again.slice(3));
  expect((await readStream(url, { ...bearer, "last-event-id": again.at(-1)?.id ?? "" })).map(({ event }) => event)).toEqual([
    "execution_complete",
  ]);
});

test("a stream needs a key, and shows nothing of another project", async ({ newProject, workflow, baseURL, execute }) => {
  const flow = await workflow({ nodes: [manual()], edges: [] });
  const url = `${baseURL}/api/v1/executions/${await execute(flow)}/stream`;
  const other = await newProject();
  const status = async (address: string) => (await fetch(address)).status;
  expect(await status(url)).toBe(401);
  expect(await status(`${url}?token=sk-service-${"x".repeat(43)}`)).toBe(401);
  expect(await status(`${url}?token=${other.api.key}`)).toBe(404);
});

test("a viewer that goes away never touches the run", async ({ api, agent, workflow, modelServer, execute, finished, baseURL }) => {
  const gate = `viewer-${crypto.randomUUID()}`;
  const scout = await agent({ model: `gate-${gate}` });
  const flow = await workflow(askingOnce(scout.id));
  const id = await execute(flow, { input: gate });
  const seen = await readStream(`${baseURL}/api/v1/executions/${id}/stream?token=${api.key}`, {}, ({ event }) => event === "node_delta");
  expect(seen.at(-1)?.event).toBe("node_delta");
  await modelServer.release(gate);
  expect((await finished(id)).status).toBe("completed");
});

test("cancel ends a run at once: the model call is aborted, the rest is skipped, a second cancel is 409", async ({
  api,
  agent,
  workflow,
  modelServer,
  baseURL,
  execute,
}) => {
  const gate = `cancel-${crypto.randomUUID()}`;
  const scout = await agent({ model: `gate-${gate}` });
  const flow = await workflow(askingOnce(scout.id));
  const id = await execute(flow, { input: gate });
  await until(async () => (await modelServer.calls({ contains: gate })).length === 1);
  const { body: cancelled } = await api.post(`/executions/${id}/cancel`, {}, { schema: Execution, status: 200 });
  expect(cancelled.status).toBe("cancelled");
  expect(Object.values(cancelled.node_results).map((result) => result.status)).toEqual(["complete", "skipped", "skipped"]);
  await until(async () => (await modelServer.calls({ contains: gate }))[0]?.outcome === "aborted");
  const events = await readStream(`${baseURL}/api/v1/executions/${id}/stream?token=${api.key}`);
  expect(events.at(-1)).toMatchObject({ event: "execution_complete", data: { status: "cancelled" } });
  const { body: refused } = await api.post(`/executions/${id}/cancel`, {}, { schema: ErrorBody, status: 409 });
  expect(refused.detail).toContain("already ended");
});

for (const [model, words] of [
  ["status-401", "401"],
  ["status-429", "429"],
  ["status-500", "500"],
  ["garbage", "answer"],
  ["drop-mid-stream", "connection"],
] as const) {
  test(`a model that answers ${model}: the node fails with the provider's words and the run says so`, async ({
    agent,
    workflow,
    executed,
  }) => {
    // `late-` answers the check at save, which would refuse the agent, and fails from then on.
    const scout = await agent({ model: `late-${model}` });
    const flow = await workflow({
      nodes: [manual(), agentNode("Research", scout.id, { retries: 0 }), output("o")],
      edges: [edge("t", "Research"), edge("Research", "o")],
    });
    const run = await executed(flow, { input: "x" });
    expect(run.status).toBe("failed");
    expect(run.node_results.Research).toMatchObject({ status: "failed", output: null });
    expect(run.node_results.Research?.error?.toLowerCase()).toContain(words);
    expect(run.error).toBe(`Research: ${run.node_results.Research?.error}`);
    expect(run.node_results.o?.status).toBe("skipped");
  });
}

test("with on_error continue the run goes on with the error as text", async ({ agent, workflow, executed }) => {
  const scout = await agent({ model: "late-status-500" });
  const nodes = [manual(), agentNode("a", scout.id, { retries: 0, on_error: "continue" }), output("o", { value: "said: {{a.output}}" })];
  const flow = await workflow({ nodes, edges: [edge("t", "a"), edge("a", "o")] });
  const run = await executed(flow, { input: "x" });
  expect(run).toMatchObject({ status: "completed", output: expect.stringMatching(/^said: .*500/) });
  expect(run.node_results.a?.status).toBe("failed");
});

test("a busy provider is asked again", async ({ agent, workflow, modelServer, executed }) => {
  const mark = `busy-${crypto.randomUUID()}`;
  const scout = await agent({ model: "flaky-1" });
  const flow = await workflow({ nodes: [manual(), agentNode("a", scout.id, { retries: 2 })], edges: [edge("t", "a")] });
  expect((await executed(flow, { input: mark })).status).toBe("completed");
  expect(await modelServer.calls({ contains: mark })).toHaveLength(2);
});

test("a viewer of the project may look but not run", async ({ api, newUser, workflow }) => {
  const flow = await workflow({ nodes: [manual()], edges: [] });
  const viewer = await newUser({ role: "viewer" });
  await viewer.api.get(`/workflows/${flow.id}`, { status: 200 });
  const { body } = await viewer.api.post(`/workflows/${flow.id}/execute`, {}, { schema: ErrorBody, status: 403 });
  expect(body.error_code).toBe("PERMISSION_DENIED");
  await api.get(`/workflows/${flow.id}/executions`, { schema: ExecutionSummary.array().length(0) });
});
