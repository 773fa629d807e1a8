import { beforeAll, beforeEach, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { saveDraft } from "#server/features/workflows/draft.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { RunDraftInput } from "#server/runs/schema.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import type { Graph } from "#server/workflow/schema.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
const AGENT = "00000000-0000-7000-8000-0000000000a1";
/** What the agents were asked, in order. */
let asked: string[] = [];
beforeAll(async () => {
  admin = await database.newAdmin();
  const project_id = admin.project.id;
  const key = await db().llmKey.create({ data: { project_id, name: "Key", provider: "openai", sealed_key: "x", masked_key: "x" } });
  await db().agent.create({ data: { id: AGENT, project_id, name: "Echo", model: "m", llm_key_id: key.id } });
});
beforeEach(() => {
  asked = [];
});

let count = 0;
const agent = (input: string, more: object = {}): Golden["nodes"][string] => ["agentNode", { agent_id: AGENT, input, ...more }];
const pinned = (output: string) => ({ pinned: { output } });

async function newWorkflow(nodes: Golden["nodes"], edges: string[]) {
  const graph = graphOf({ nodes, edges });
  const { id } = await createWorkflow(admin, { name: `Workflow ${++count}`, ...graph });
  let revision = (await db().workflowDraft.findUniqueOrThrow({ where: { workflow_id: id } })).revision;
  return {
    id,
    graph,
    save: async (next: Graph) => {
      ({ revision } = await saveDraft(admin, { workflow_id: id, ...next, revision }));
    },
  };
}
/** Plays a run to where it ends or waits. */
async function play(started: Promise<{ execution_id: string }>) {
  const { execution_id } = await started;
  const callAgent = async ({ message }: { message: string }) => {
    asked.push(message);
    return { output: `<${message}>` };
  };
  await claimAndExecute(storedServices({ callAgent }), execution_id, 60);
  return getExecution(admin, { execution_id });
}
const draft = (workflow_id: string, input: Omit<RunDraftInput, "workflow_id"> = {}) => play(runDraft(admin, { workflow_id, ...input }));
const statuses = (run: Awaited<ReturnType<typeof play>>) =>
  Object.fromEntries(Object.entries(run.node_results).map(([id, { status, reused }]) => [id, `${status}${reused ? " before" : ""}`]));
const changed = (graph: Graph, id: string, data: object): Graph => ({
  ...graph,
  nodes: graph.nodes.map((node) => (node.id === id ? { ...node, data: { ...node.data, ...data } } : node)),
});

test("test runs take pinned outputs in their order and by their handles; every other run passes them over", async () => {
  const { id } = await newWorkflow(
    {
      t: ["triggerNode", { default_input: "go" }],
      first: agent("one {{trigger.output}}", pinned("mock")),
      way: ["branchNode", { condition: "True", ...pinned("False") }],
      yes: agent("yes"),
      no: agent("no {{first.output}}"),
      ask: ["humanLoopNode", { title: "Well?", ...pinned("approved: fine") }],
      o: ["outputNode", { value: "{{no.output}} {{ask.decision}} {{ask.comment}}" }],
    },
    ["t>first", "first>way", "way.true>yes", "way.false>no", "no>ask", "ask.approved>o"],
  );
  const run = await draft(id);
  expect(run).toMatchObject({ status: "completed", version: null, output: "<no mock> approved fine" });
  expect(asked).toEqual(["no mock"]);
  expect(run.node_results).toMatchObject({ first: { pinned: true, output: "mock" }, way: { pinned: true }, yes: { status: "skipped" } });
  expect(run.node_results.no).not.toHaveProperty("pinned");

  asked = [];
  const real = await play(executeWorkflow(admin, { workflow_id: id }));
  expect(real).toMatchObject({ status: "completed", node_results: { first: { output: "<one go>" }, no: { status: "skipped" } } });
  expect(real.node_results.first).not.toHaveProperty("pinned");
  expect(asked).toEqual(["one go", "yes"]);

  asked = [];
  const again = await play(rerunExecution(admin, { execution_id: run.id, use_current: false }));
  expect(again).toMatchObject({ output: run.output, version: null });
  expect(asked).toEqual(["no mock"]);
  await play(rerunExecution(admin, { execution_id: run.id, use_current: true }));
  expect(asked).toEqual(["no mock", "one go", "yes"]);
});

test("a run up to a node is run again from it: what followed a pin is taken over, though what stands before that never ran", async () => {
  const { id } = await newWorkflow(
    { t: ["triggerNode"], a: agent("never"), p: agent("never", pinned("mock")), b: agent("b {{p.output}}"), c: agent("c {{b.output}}") },
    ["t>a", "a>p", "p>b", "b>c"],
  );
  const run = await draft(id, { until_node_id: "c" });
  expect(asked).toEqual(["b mock", "c <b mock>"]);
  const again = await play(rerunExecution(admin, { execution_id: run.id, from_node_id: "c", use_current: false }));
  expect(again.node_results).toMatchObject({ p: { reused: true }, b: { reused: true }, c: { status: "complete", reused: false } });
  expect(asked.filter((message) => message === "b mock")).toHaveLength(1);
});

test("a pinned loop does not run its body, a pin in a body holds for every item, one on a way not taken is skipped", async () => {
  const nodes: Golden["nodes"] = {
    t: ["triggerNode", { default_input: '["a", "b"]' }],
    L: ["loopNode", { items_expression: "{{trigger.output}}" }],
    each: agent("{{L.current_item}}", pinned("same")),
    last: agent("{{each.output}} {{L.current_item}}"),
    way: ["branchNode", { condition: "False" }],
    off: agent("off", pinned("never")),
    o: ["outputNode", { value: "{{L.output}}" }],
  };
  const edges = ["t>L", "L>each", "each>last", "L.done>way", "way.true>off", "way.false>o"];
  const { id, graph, save } = await newWorkflow(nodes, edges);
  const run = await draft(id);
  expect(run).toMatchObject({
    output: '["<same a>","<same b>"]',
    node_results: { off: { status: "skipped" }, L: { iterations: { total: 2 } } },
  });
  asked = [];
  await save(changed(graph, "L", pinned('["x"]')));
  const cut = await draft(id);
  expect(cut).toMatchObject({ output: '["x"]', node_results: { last: { status: "skipped" }, L: { pinned: true } } });
  expect(asked).toEqual([]);
});

test("a run up to a node runs what it needs, whatever is unfinished elsewhere; running it again goes as far", async () => {
  const { id, graph, save } = await newWorkflow(
    {
      t: ["triggerNode", { default_input: "go" }],
      a: agent("a {{trigger.output}}"),
      b: agent("b {{a.output}}"),
      c: agent("c {{b.output}}"),
      later: ["agentNode", { agent_id: "" }],
      aside: agent("aside"),
    },
    ["t>a", "a>b", "b>c", "c>later", "t>aside"],
  );
  const run = await draft(id, { until_node_id: "b" });
  expect(run).toMatchObject({ status: "completed", output: "<b <a go>>" });
  expect(statuses(run)).toEqual({
    ...{ t: "complete", a: "complete", b: "complete" },
    ...{ c: "skipped before", later: "skipped before", aside: "skipped before" },
  });
  expect(asked).toEqual(["a go", "b <a go>"]);
  expect(statuses(await play(rerunExecution(admin, { execution_id: run.id, use_current: false })))).toEqual(statuses(run));
  await expect(draft(id)).rejects.toThrow("Choose an agent");

  asked = [];
  await save(changed(graph, "b", pinned("B")));
  const short = await draft(id, { until_node_id: "c" });
  expect(short.output).toBe("<c B>");
  expect(statuses(short)).toMatchObject({ a: "skipped before", b: "complete before", c: "complete" });
  expect(asked).toEqual(["c B"]);
  await expect(draft(id, { until_node_id: "nobody" })).rejects.toThrow('no node "nobody"');
});

test("from a node of the draft, what still holds of the run on the screen is taken over", async () => {
  const { id, graph, save } = await newWorkflow(
    {
      t: ["triggerNode", { default_input: "go" }],
      a: agent("a {{trigger.output}}"),
      b: agent("b"),
      L: ["loopNode", { items_expression: "[1, 2]" }],
      in: agent("{{a.output}} {{L.current_item}}"),
      o: ["outputNode", { value: "{{a.output}} {{b.output}} {{L.output}}" }],
    },
    ["t>a", "t>b", "a>L", "L.body>in", "L.done>o", "b>o"],
  );
  const first = await draft(id, { input: "in" });
  asked = [];
  const from = (node_id: string) => ({ from: { execution_id: first.id, node_id } });
  await save(changed(graph, "in", { input: "changed {{L.current_item}}" }));
  const again = await draft(id, from("o"));
  expect(again).toMatchObject({ status: "completed", trigger: "rerun", rerun_of: first.id, version: null });
  expect(again.output).toBe('<a in> <b> ["<changed 1>","<changed 2>"]');
  expect(asked.sort()).toEqual(["changed 1", "changed 2"]);
  expect(statuses(again)).toMatchObject({ t: "complete before", a: "complete before", b: "complete before", L: "complete", o: "complete" });

  asked = [];
  expect(statuses(await draft(id, from("in")))).toMatchObject({ a: "complete before", L: "complete", b: "complete before" });
  expect(asked).toHaveLength(2);
  const other = await newWorkflow({ t: ["triggerNode"], o: ["outputNode"] }, ["t>o"]);
  await expect(draft(other.id, from("o"))).rejects.toThrow("another workflow");
});

test("a pin that cannot be the node's output is refused when a test run starts, and its size when it is saved", async () => {
  const { id, graph, save } = await newWorkflow(
    { t: ["triggerNode"], way: ["branchNode", { condition: "True", ...pinned("maybe") }], o: ["outputNode"] },
    ["t>way", "way.true>o"],
  );
  await expect(draft(id)).rejects.toThrow(/pinned at "way" cannot be used. A Branch leaves True or False/);
  expect((await play(executeWorkflow(admin, { workflow_id: id }))).status).toBe("completed");
  await save(changed(graph, "way", pinned("True")));
  expect((await draft(id)).status).toBe("completed");
  const large = changed(graph, "way", pinned("x".repeat(65_537)));
  await expect(createWorkflow(admin, { name: "Large", ...large })).rejects.toThrow("at most 65536 characters");
});

test("a run up to a node, run again, begins with the pins before which nothing runs", async () => {
  const { id } = await newWorkflow(
    { t: ["triggerNode", { default_input: "go" }], a: agent("a"), b: agent("b", pinned("B")), c: agent("c {{b.output}}") },
    ["t>a", "a>b", "b>c"],
  );
  const run = await draft(id, { until_node_id: "c" });
  const again = await play(rerunExecution(admin, { execution_id: run.id, use_current: false }));
  expect(again.output).toBe("<c B>");
  expect(statuses(again)).toEqual(statuses(run));
});

test.each([{ disabled: true }, pinned('["a"]')])(
  "with %j, a loop's body is skipped whatever leads into it, and what follows it runs",
  async (off) => {
    const nodes: Golden["nodes"] = {
      t: ["triggerNode", { default_input: '["a"]' }],
      side: agent("side"),
      L: ["loopNode", { items_expression: "{{trigger.output}}", ...off }],
      each: agent("{{L.current_item}} {{side.output}}"),
      after: ["outputNode", { value: "after {{L.output}} {{side.output}}" }],
    };
    const { id } = await newWorkflow(nodes, ["t>L", "t>side", "side>each", "L>each", "each>after"]);
    const run = await draft(id);
    expect(run).toMatchObject({ error: null, output: 'after ["a"] <side>', node_results: { each: { status: "skipped" } } });
  },
);

test("up to a node in loops, and on from there: pins in a body do not make its loop run again", async () => {
  const { id } = await newWorkflow(
    {
      t: ["triggerNode", { default_input: '["a","b"]' }],
      L: ["loopNode", { items_expression: "{{trigger.output}}" }],
      p: agent("p {{L.current_item}}", pinned("P")),
      M: ["loopNode", { items_expression: "[1,2]", ...pinned('["m"]') }],
      q: agent("q {{M.current_item}}"),
      r: agent("r {{M.output}} {{p.output}}"),
      after: agent("after {{L.output}}"),
    },
    ["t>L", "L.body>p", "p>M", "M.body>q", "q>r", "r>after"],
  );
  const run = await draft(id, { until_node_id: "r" });
  expect(asked).toEqual(['r ["m"] P', 'r ["m"] P']);
  expect(statuses(run)).toMatchObject({ q: "skipped", r: "complete", after: "skipped before" });
  asked = [];
  const on = await draft(id, { from: { execution_id: run.id, node_id: "after" } });
  expect(asked).toEqual([`after ${JSON.stringify(['<r ["m"] P>', '<r ["m"] P>'])}`]);
  expect(statuses(on)).toMatchObject({ L: "complete before", p: "complete before", M: "complete before", after: "complete" });
});

test("what an agent said before it was changed is not taken over, in a loop's body neither", async () => {
  const { id } = await newWorkflow(
    {
      t: ["triggerNode", { default_input: "go" }],
      a: agent("a"),
      L: ["loopNode", { items_expression: "[1]" }],
      in: agent("in"),
      o: ["outputNode", { value: "{{a.output}} {{L.output}}" }],
    },
    ["t>a", "t>L", "L.body>in", "L.done>o", "a>o"],
  );
  const first = await draft(id);
  const from = { from: { execution_id: first.id, node_id: "o" } };
  expect(statuses(await draft(id, from))).toMatchObject({ a: "complete before", L: "complete before" });
  await db().agent.update({ where: { id: AGENT }, data: { system_prompt: "Be brief.", updated_at: new Date(Date.now() + 1000) } });
  expect(statuses(await draft(id, from))).toMatchObject({ t: "complete before", a: "complete", L: "complete", in: "complete" });
});
