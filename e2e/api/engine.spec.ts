import { graphOf } from "#e2e/api/graphs.ts";
import { nodesTold, readStream } from "#e2e/api/read-stream.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { UpdatedWorkflow } from "#server/features/workflows/schema.ts";
import { Execution, ExecutionLogs, NodeOutput, RerunResult } from "#server/runs/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

test("a branch goes the way that its Python condition says", async ({ workflow, executed }) => {
  const graph = graphOf(
    {
      t: ["trigger"],
      Urgent: ["branch", { condition: "re.search('(?i)urgent', output) is not None and trigger_output == node_outputs['t']" }],
      yes: ["output", { value: "now ({{Urgent.output}})" }],
      no: ["output", { value: "later ({{Urgent.output}})" }],
    },
    ["t>Urgent", "Urgent.true>yes", "Urgent.false>no"],
  );
  const flow = await workflow(graph);
  const run = (input: string) => executed(flow, { input });
  expect((await run("URGENT: help")).output).toBe("now (True)");
  const calm = await run("hello");
  expect(calm.output).toBe("later (False)");
  expect(calm.node_results).toMatchObject({ yes: { status: "skipped" }, no: { status: "complete" }, Urgent: { status: "complete" } });
});

test("a condition that cannot be read is a problem with its field, and stops the run", async ({ api, workflow }) => {
  const flow = await workflow(graphOf({ t: ["trigger"], b: ["branch", { condition: "output ==" }], o: ["output"] }, ["t>b", "b.true>o"]));
  expect(flow.problems).toMatchObject([{ node_id: "b", field: "condition" }]);
  const { body } = await api.post(`/workflows/${flow.id}/execute`, {}, { schema: ErrorBody, status: 422 });
  expect(body.errors?.[0]?.path).toBe("b.condition");
});

test("a loop calls its agent once for each item, side by side, and keeps the order; counts and logs tell each iteration", async ({
  api,
  agent,
  workflow,
  baseURL,
  executed,
}) => {
  const echo = await agent({ name: "Echo", model: "echo" });
  const graph = graphOf(
    {
      t: ["trigger"],
      Each: ["loop", { items_expression: "{{trigger.output.names}}", concurrency: 3 }],
      greet: ["agent", { agent_id: echo.id, input: "{{Each.index}} {{Each.current_item}}" }],
      all: ["output", { value: "{{Each.output[2]}} of {{Each.output}}" }],
    },
    ["t>Each", "Each.body>greet", "Each.done>all"],
  );
  const flow = await workflow(graph);
  const run = await executed(flow, { input: '{"names": ["Ann", "Bo", "Cy"]}' });
  expect(run.output).toBe('Echo: 2 Cy of ["Echo: 0 Ann","Echo: 1 Bo","Echo: 2 Cy"]');
  expect(run.node_results.Each).toMatchObject({ status: "complete", iterations: { total: 3, complete: 3, failed: 0 } });
  expect(run.node_results.greet).toMatchObject({ status: "complete", iteration: "2" });
  const { body: logs } = await api.get(`/executions/${run.id}/logs`, { schema: ExecutionLogs });
  const greetings = logs.items.filter((item) => item.node_id === "greet");
  expect(greetings.map((item) => [item.iteration, item.input]).sort()).toEqual([
    ["0", "0 Ann"],
    ["1", "1 Bo"],
    ["2", "2 Cy"],
  ]);
  const events = await readStream(`${baseURL}/api/v1/executions/${run.id}/stream`, { authorization: `Bearer ${api.key}` });
  expect(events.filter(({ event }) => event === "loop_progress").at(-1)?.data).toMatchObject({ node_id: "Each", total: 3, complete: 3 });
});

test("what no run could do is refused or named: a loop without a body, an item read outside, edges that the rules forbid", async ({
  api,
  workflow,
}) => {
  const flow = await workflow(
    graphOf({ t: ["trigger"], L: ["loop", { items_expression: "{{trigger.output}}" }], o: ["output", { value: "{{L.current_item}}" }] }, [
      "t>L",
      "L.done>o",
    ]),
  );
  expect(flow.problems.map(({ node_id, field }) => [node_id, field])).toEqual([
    ["L", null],
    ["o", "value"],
  ]);
  const refused = async (nodes: Parameters<typeof graphOf>[0], edges: string[]) => {
    const graph = { name: "No", ...graphOf({ t: ["trigger"], ...nodes }, edges) };
    return (await api.post("/workflows", graph, { schema: ErrorBody, status: 422 })).body.detail;
  };
  expect(await refused({ a: ["branch"], b: ["branch"] }, ["t>a", "a.true>b"])).toContain("A Branch cannot follow");
  expect(await refused({ a: ["branch"], o: ["output"] }, ["t>a", "a>o"])).toContain("true or false");
  expect(await refused({ r: ["humanLoop"], l: ["loop"] }, ["t>r", "r.approved>l"])).toContain("A Loop cannot follow");
  expect(await refused({ e: ["terminate"], o: ["output"] }, ["t>e", "e>o"])).toContain("Nothing can follow a Terminate");
});

test("Terminate ends the run at once, as it says, and aborts what is under way", async ({ agent, workflow, executed }) => {
  const slow = await agent({ name: "Slow", model: "echo" });
  const graph = graphOf(
    {
      t: ["trigger"],
      work: ["agent", { agent_id: slow.id, input: "[[hang]] never" }],
      stop: ["terminate", { status: "failed", message: "No budget for {{trigger.output}}" }],
    },
    ["t>work", "t>stop"],
  );
  const flow = await workflow(graph);
  const run = await executed(flow, { input: "tea" });
  expect(run).toMatchObject({ status: "failed", error: "No budget for tea" });
  expect(run.node_results).toMatchObject({ stop: { status: "complete" }, work: { status: "skipped" } });
});

test("an output of more than 256 Ki characters is told by its beginning, and read whole where the reference says", async ({
  api,
  workflow,
  baseURL,
  executed,
}) => {
  const flow = await workflow(graphOf({ t: ["trigger"], o: ["output", { value: "{{trigger.output}}{{trigger.output}}" }] }, ["t>o"]));
  const input = "0123456789abcdef".repeat(12_000);
  const run = await executed(flow, { input });
  expect(run.output).toHaveLength(384_000);
  const result = run.node_results.o;
  expect(result).toMatchObject({ truncated: true, output_length: 384_000 });
  expect(result?.output).toHaveLength(2000);
  expect(run.node_results.t?.output).toHaveLength(192_000);
  const events = await readStream(`${baseURL}/api/v1/executions/${run.id}/stream`, { authorization: `Bearer ${api.key}` });
  const told = events.find(({ event, data }) => event === "node_complete" && data.node_id === "o");
  expect(told?.data).toMatchObject({ truncated: true, output_url: result?.output_url });
  const path = (result?.output_url ?? "").replace("/api/v1", "");
  expect((await api.get(path, { schema: NodeOutput })).body.output).toBe(run.output);
});

test("rerun from a node takes over what does not depend on it, and says so", async ({
  api,
  agent,
  workflow,
  executed,
  finished,
  baseURL,
}) => {
  const echo = await agent({ name: "Echo", model: "echo" });
  const graph = graphOf(
    {
      t: ["trigger"],
      first: ["agent", { agent_id: echo.id, input: "one {{trigger.output}}" }],
      beside: ["agent", { agent_id: echo.id, input: "beside" }],
      second: ["agent", { agent_id: echo.id, input: "two {{first.output}}" }],
      o: ["output", { value: "{{second.output}} / {{beside.output}}" }],
    },
    ["t>first", "t>beside", "first>second", "second>o", "beside>o"],
  );
  const flow = await workflow(graph);
  const original = await executed(flow, { input: "x" });
  const rerun = async (fields: object) =>
    (await api.post(`/executions/${original.id}/rerun`, fields, { schema: RerunResult, status: 202 })).body;

  const started = await rerun({ from_node_id: "second" });
  expect(started).toMatchObject({ status: "pending", rerun_of: original.id });
  const again = await finished(started.execution_id);
  expect(again).toMatchObject({ status: "completed", trigger: "rerun", rerun_of: original.id, output: original.output });
  const reused = Object.entries(again.node_results).flatMap(([id, result]) => (result.reused ? [id] : []));
  expect(reused.sort()).toEqual(["beside", "first", "t"]);
  expect(again.input_tokens).toBe(again.node_results.second?.input_tokens);
  const events = await readStream(`${baseURL}/api/v1/executions/${again.id}/stream`, { authorization: `Bearer ${api.key}` });
  expect(nodesTold(events)).toEqual(["start second", "complete second", "start o", "complete o"]);

  const fresh = await finished((await rerun({ input: "y" })).execution_id);
  expect(fresh.output).toBe("Echo: two Echo: one y / Echo: beside");
  expect(fresh.node_results).toMatchObject({ beside: { reused: true }, first: { reused: false }, second: { reused: false } });

  const changed = graph.nodes.map((node) =>
    node.id === "second" ? { ...node, data: { ...node.data, input: "zwei {{first.output}}" } } : node,
  );
  await api.put(`/workflows/${flow.id}`, { nodes: changed }, { schema: UpdatedWorkflow });
  expect((await finished((await rerun({ from_node_id: "second" })).execution_id)).output).toBe(original.output);
  const current = await finished((await rerun({ from_node_id: "second", use_current: true })).execution_id);
  expect(current).toMatchObject({ output: "Echo: zwei Echo: one x / Echo: beside", version: 2 });

  // What the original did not run comes first, and with it what depends on that.
  const longer = graphOf(
    {
      t: ["trigger"],
      early: ["agent", { agent_id: echo.id, input: "early" }],
      first: ["agent", { agent_id: echo.id, input: "one {{early.output}}" }],
      beside: ["agent", { agent_id: echo.id, input: "beside" }],
      second: ["agent", { agent_id: echo.id, input: "two {{early.output}}, {{first.output}}" }],
      o: ["output", { value: "{{second.output}} / {{beside.output}}" }],
    },
    ["t>early", "t>beside", "early>first", "first>second", "second>o", "beside>o"],
  );
  await api.put(`/workflows/${flow.id}`, longer, { schema: UpdatedWorkflow });
  const inserted = await finished((await rerun({ from_node_id: "second", use_current: true })).execution_id);
  expect(inserted).toMatchObject({ status: "completed", output: "Echo: two Echo: early, Echo: one Echo: early / Echo: beside" });
  expect(inserted.node_results).toMatchObject({ beside: { reused: true }, first: { reused: false }, early: { reused: false } });

  const { body: refused } = await api.post(
    `/executions/${original.id}/rerun`,
    { from_node_id: "nobody" },
    { schema: ErrorBody, status: 422 },
  );
  expect(refused.errors?.[0]?.path).toBe("from_node_id");
});

test("the logs of a rerun list what was taken over in the order in which it ran", async ({ api, workflow, executed, finished }) => {
  const ids = ["t", "e", "b", "h", "a", "g", "c", "f", "d"];
  const graph = graphOf(
    Object.fromEntries(ids.map((id) => [id, [id === "t" ? "trigger" : "output"]])),
    ids.slice(1).map((id, index) => `${ids[index]}>${id}`),
  );
  const original = await executed(await workflow(graph), { input: "x" });
  const { body: started } = await api.post(`/executions/${original.id}/rerun`, { from_node_id: "d" }, { schema: RerunResult, status: 202 });
  await finished(started.execution_id);
  const { body: logs } = await api.get(`/executions/${started.execution_id}/logs`, { schema: ExecutionLogs });
  expect(logs.items.map(({ node_id }) => node_id)).toEqual(ids);
});

test("an execution that has not ended is not run again, and a node in a loop is not a place to start from", async ({
  api,
  agent,
  workflow,
  execute,
  finished,
}) => {
  const gate = await agent({ name: "Gate", model: "echo" });
  const flow = await workflow(
    graphOf(
      {
        t: ["trigger"],
        L: ["loop", { items_expression: "{{trigger.output}}" }],
        a: ["agent", { agent_id: gate.id, input: "[[hang]]" }],
      },
      ["t>L", "L>a"],
    ),
  );
  const id = await execute(flow, { input: "[1]" });
  const path = `/executions/${id}`;
  await api.post(`${path}/rerun`, {}, { schema: ErrorBody, status: 409 });
  await api.post(`${path}/cancel`, {}, { schema: Execution });
  const cancelled = await finished(id);
  expect(cancelled).toMatchObject({ status: "cancelled", node_results: { L: { status: "skipped" } } });
  const { body: inside } = await api.post(`${path}/rerun`, { from_node_id: "a" }, { schema: ErrorBody, status: 422 });
  expect(inside.detail).toContain('from_node_id "L"');
});
