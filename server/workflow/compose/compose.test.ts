import { expect, test } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import { childEnd, drawFrom, failureOf, hashOf, randomEffects, randomGraph } from "#server/testing/random-graph.ts";
import { times } from "#server/testing/times.ts";
import { makePlan } from "#server/workflow/compile.ts";
import { extractWorkflow } from "#server/workflow/compose/extract.ts";
import { inlineWorkflow } from "#server/workflow/compose/inline.ts";
import { ComposeRefusal } from "#server/workflow/compose/reads.ts";
import { upstreamOf } from "#server/workflow/graph.ts";
import type { ChildRequest } from "#server/workflow/nodes/definition.ts";
import { paramValues } from "#server/workflow/nodes/params.ts";
import { triggerNode } from "#server/workflow/nodes/trigger-node.ts";
import { findProblems } from "#server/workflow/problems.ts";
import type { Graph } from "#server/workflow/schema.ts";

const scope = { agentName: (id: string) => `Agent ${id}`, workflowName: () => "Child" };
const CHILD = "child";
/** More than a Wait of a random graph takes, in milliseconds. */
const LATER_MS = 3_700_000;

/** What a run came to: how it ended, and what its agents were asked. */
interface Came {
  status: string;
  output: string | null;
  asked: string[];
}

/** Plays a graph to its end; a Workflow node of it runs the child. Reviews are decided by where they are. */
async function play(graph: Graph, input: string, child?: Graph, params?: Record<string, unknown>): Promise<Came> {
  const memory = memoryStore(graph, { input, ...(params && { params }) });
  const asked: string[] = [];
  let now = 0;
  const services = testServices(
    { store: memory.store },
    {
      clock: { now: () => new Date(++now) },
      agentNames: async (_, ids) => new Map(ids.map((id) => [id, `Agent ${id}`])),
      evaluate: (condition) => condition === "True",
      ...randomEffects(() => 0),
      callAgent: async ({ agent_id, message }) => {
        asked.push(`${agent_id}: ${message}`);
        return { output: hashOf(message) % 3 ? `${agent_id}<${message}>` : JSON.stringify({ [agent_id]: message.length }) };
      },
    },
  );
  for (;;) {
    const outcome = await claimAndExecute(services, "run", 1e6);
    if (outcome.kind !== "waiting") break;
    now += LATER_MS;
    for (const { node_id, iteration, reason } of memory.waiting()) {
      const waits = memory.commits.flatMap((commit) => commit.waits ?? []);
      const wait = waits.findLast((one) => one.node_id === node_id && one.iteration === iteration);
      const request = wait?.request as ChildRequest | undefined;
      if (reason === "review") memory.decide(node_id, hashOf(node_id) % 2 ? "approved" : "rejected", null, iteration);
      else if (reason === "callback") memory.resolve(node_id, { called: node_id }, iteration);
      else if (request?.workflow_id === CHILD && child) {
        const came = await playChild(child, request);
        asked.push(...came.asked);
        memory.resolve(node_id, { status: came.status, output: came.output, error: null }, iteration);
      } else if (reason === "child") memory.resolve(node_id, childEnd(node_id, ""), iteration);
    }
  }
  const { status = "", output = null, outputs = [] } = memory.ending() ?? {};
  // Without an Output it is that of the node which ended last, of several as it happens.
  const isSure = outputs.length > 0 || makePlan(graph).scopes.get(null)?.ends.length === 1;
  return { status, output: isSure ? output : null, asked: asked.sort() };
}

function playChild(child: Graph, request: ChildRequest): Promise<Came> {
  const { kind, parameters } = triggerNode.config.parse(child.nodes.find(({ type }) => type === "triggerNode")?.data);
  if (kind !== "params") return play(child, request.input);
  const values = paramValues(parameters, request.params);
  return play(child, JSON.stringify(values), undefined, values);
}

/** A random graph in which agents read each other by name. */
function readingGraph(seed: number): Graph | undefined {
  const graph = randomGraph(seed, false);
  const draw = drawFrom(seed);
  for (const node of graph?.nodes ?? []) {
    if (!graph || (node.type !== "agentNode" && node.type !== "outputNode")) continue;
    // An agent that would be asked nothing is asked what came before it.
    if (node.type === "agentNode" && node.data.input !== "") node.data.input = `: ${node.data.input}`;
    if (draw(3) === 0) continue;
    const before = [...upstreamOf(graph, node.id)];
    const field = node.type === "agentNode" ? "input" : "value";
    const was = node.data[field];
    const reads = [before[draw(before.length)], before[draw(before.length)]];
    node.data[field] = `${node.id} ${reads.map((id) => (id === "t" ? "{{trigger.output}}" : `{{${id}.output}}`)).join(", ")}`;
    if (findProblems(graph, scope).length > 0) node.data[field] = was;
  }
  return graph;
}

/** Everything between two nodes, for each pair of which one leads to the other. */
function* partsOf(graph: Graph): Generator<Set<string>> {
  for (const { id: last } of graph.nodes)
    for (const first of [last, ...upstreamOf(graph, last)]) {
      const before = upstreamOf(graph, last);
      yield new Set([first, last, ...[...before].filter((id) => upstreamOf(graph, id).has(first))]);
    }
}

const GRAPHS = times(30);

test(
  "a part that is taken out of any graph, and put in again, leaves its runs as they were",
  async () => {
    let taken = 0;
    let handed = 0;
    for (let seed = 1; seed <= GRAPHS; seed++) {
      const graph = readingGraph(seed);
      if (!graph) continue;
      const whole = await play(graph, "in");
      for (const part of partsOf(graph)) {
        const extraction = attempt(() => extractWorkflow(graph, part, "Part", scope));
        if (typeof extraction === "string") continue;
        const { workflow, graphWith, node_id, given } = extraction;
        taken++;
        handed += given.length;
        const outer = graphWith(CHILD);
        try {
          expect(findProblems(workflow, scope), "the new workflow").toEqual([]);
          expect(findProblems(outer, scope), "what is left").toEqual([]);
          expect(await play(outer, "in", workflow), "with the child").toEqual(whole);
          const back = attempt(() => inlineWorkflow(outer, node_id, workflow, scope));
          if (typeof back === "string") throw new Error(`not put in again: ${back}`);
          expect(findProblems(back, scope), "put in again").toEqual([]);
          expect(await play(back, "in"), "put in again").toEqual(whole);
        } catch (error) {
          throw new Error(`${[...part].join()} of ${failureOf(seed, graph, error)}`, { cause: error });
        }
      }
    }
    // Not all is refused.
    expect(taken).toBeGreaterThan(GRAPHS / 2);
    expect(handed).toBeGreaterThan(GRAPHS / 4);
  },
  times(15_000),
);

/** What it comes to, or why it is refused. */
function attempt<Result>(work: () => Result): Result | string {
  try {
    return work();
  } catch (error) {
    if (error instanceof ComposeRefusal) return error.message;
    throw error;
  }
}

const agent = (input: string): [string, Record<string, unknown>] => ["agentNode", { input }];
const chain = {
  t: ["triggerNode", { kind: "params", parameters: [{ name: "topic", type: "text" }] }],
  a: ["agentNode", { input: "{{trigger.topic}}" }],
  ask: ["httpNode", { url: "https://h.example/{{trigger.topic}}?of={{a.output.name | lower}}" }],
  way: ["branchNode", { condition: "'x' in output" }],
  yes: agent(""),
  no: agent("{{ask.status}} {{a.output.name | lower}}"),
  sum: agent("{{yes.output}}{{no.output}}"),
  tell: agent("{{sum.output.title}} {{credentials.KEY}}"),
  o: ["outputNode", { value: "{{tell.output}}" }],
} satisfies Parameters<typeof graphOf>[0]["nodes"];
const ways = ["t>a", "a>ask", "ask>way", "way.true>yes", "way.false>no", "yes>sum", "no>sum", "sum>tell", "tell>o"];
const drawn = (changes: Parameters<typeof graphOf>[0]["nodes"] = {}, edges = ways) => graphOf({ nodes: { ...chain, ...changes }, edges });
const dataOf = (graph: Graph, label: string) => graph.nodes.find(({ data }) => data.label === label)?.data;
const part = (ids: string) => new Set(ids.split(" "));

test("what a part reads of others is handed over by name, and its end is read of the new node", () => {
  const { workflow, graphWith, given } = extractWorkflow(drawn(), part("ask way yes no sum"), "Look {up}", scope);
  expect(given).toEqual(["{{trigger.topic}}", "{{a.output.name | lower}}"]);
  const outer = graphWith("child-id");
  expect(dataOf(outer, "Look up")).toMatchObject({
    ...{ workflow_id: "child-id", input: "", version: "current", on_error: "fail" },
    params: { topic: "{{trigger.topic}}", a_name_lower: "{{a.output.name | lower}}" },
  });
  expect(dataOf(outer, "tell")?.input).toBe("{{Look up.output.title}} {{credentials.KEY}}");
  expect(outer.edges.map(({ source, target }) => `${source}>${target}`)).toEqual(["t>a", "a>workflow", "workflow>tell", "tell>o"]);
  expect(dataOf(workflow, "Start")).toMatchObject({ kind: "params", parameters: [{ name: "topic" }, { name: "a_name_lower" }] });
  expect(dataOf(workflow, "ask")?.url).toBe("https://h.example/{{trigger.topic}}?of={{trigger.a_name_lower}}");
  expect(dataOf(workflow, "no")?.input).toBe("{{ask.status}} {{trigger.a_name_lower}}");
  expect(dataOf(workflow, "yes")?.input).toBe("");
  expect(dataOf(inlineWorkflow(outer, "workflow", workflow, scope), "no")?.input).toBe("{{ask.status}} {{a.output.name | lower}}");
});

test("one value alone is the input, and without any what came before goes on", () => {
  const one = extractWorkflow(drawn(), part("a"), "One", scope);
  expect(dataOf(one.graphWith("x"), "One")).toMatchObject({ input: "{{trigger.topic}}", params: {} });
  expect(dataOf(one.workflow, "a")?.input).toBe("{{trigger.output}}");
  expect(dataOf(one.workflow, "Start")).toEqual({ label: "Start", kind: "manual" });
  const none = extractWorkflow(drawn(), part("yes"), "None", scope);
  expect(dataOf(none.graphWith("x"), "None")).toMatchObject({ input: "", params: {} });
  expect(dataOf(none.graphWith("x"), "sum")?.input).toBe("{{None.output}}{{no.output}}");
});

const looped = graphOf({
  nodes: {
    t: ["triggerNode"],
    L: ["loopNode", { items_expression: "[1]" }],
    in: agent("{{L.current_item}} {{L.index}}"),
    z: agent("{{L.output}}"),
  },
  edges: ["t>L", "L>in", "L.done>z"],
});

const decided = ways.map((way) => (way === "tell>o" ? "tell.true>o" : way));

test.each<[string, Graph, string, string | null]>([
  ["the trigger", drawn(), "t a", "The trigger stays"],
  ["nothing", drawn(), "nobody", "Select what"],
  ["an Output", drawn(), "tell o", "result of this workflow"],
  ["several ways in", drawn(), "ask tell", "one way in only"],
  ["several ways out", drawn(), "way yes no", "one way out only"],
  [
    "a decision at the end",
    drawn(
      {},
      ways.filter((way) => way !== "way.false>no"),
    ),
    "ask way",
    "decides how it goes on",
  ],
  [
    "a part that may not come to its end",
    drawn(
      {},
      ways.filter((way) => !way.includes("no")),
    ),
    "way yes sum",
    'When "way" goes on by false',
  ],
  [
    "a condition that reads far",
    drawn({ way: ["branchNode", { condition: "node_outputs['a']" }] }),
    "way yes no sum",
    "reads node_outputs",
  ],
  ["reads of its inside", drawn({ tell: agent("{{ask.status}}") }), "ask way yes no sum", 'Only the output of "sum"'],
  ["reads in conditions", drawn({ tell: ["branchNode", { condition: "node_outputs['yes']" }] }, decided), "yes", null],
  [
    "reads of its inside in conditions",
    drawn({ tell: ["branchNode", { condition: "node_outputs['no']" }] }, decided),
    "ask way yes no sum",
    'reads "no"',
  ],
  [
    "an end of the run",
    drawn(
      { yes: ["terminateNode"] },
      ways.filter((way) => way !== "yes>sum"),
    ),
    "way yes no sum",
    "ends the whole run",
  ],
  ["a node that is switched off", drawn({ yes: ["agentNode", { disabled: true }] }), "yes", "switched off"],
  ["a review that ends the run", drawn({ way: ["humanLoopNode"] }, ["t>a", "a>way", "way.approved>sum"]), "way sum", "when it is rejected"],
  ["a loop with its body", looped, "L", null],
  ["a part of a body", looped, "in", null],
  ["both levels", looped, "in z", "Select nodes of one level"],
])("taking out %s: %#", (_, graph, ids, said) => {
  const result = attempt(() => extractWorkflow(graph, part(ids), "Part", scope));
  if (said === null) expect(result).toHaveProperty("workflow");
  else expect(result).toContain(said);
});

/** A workflow that runs another. */
const caller = (data: Record<string, unknown>, more: Parameters<typeof graphOf>[0]["nodes"] = {}) =>
  graphOf({
    nodes: { t: ["triggerNode"], in: agent(""), s: ["workflowNode", data], z: agent("{{s.output.x}}"), ...more },
    edges: ["t>in", "in>s", "s>z"],
  });
const child = (nodes: Parameters<typeof graphOf>[0]["nodes"], edges: string[], trigger: Record<string, unknown> = {}) =>
  graphOf({ nodes: { t: ["triggerNode", trigger], ...nodes }, edges });
const form = {
  kind: "params",
  parameters: [
    { name: "p", type: "text" },
    { name: "n", type: "number", default: 7 },
  ],
};

test("another workflow is put in under names that are free, reading what it was given", () => {
  const other = child(
    { in: agent("{{trigger.p.name | upper}} {{trigger.n}}"), o: ["outputNode", { value: "{{in.output}}" }] },
    ["t>in", "in>o"],
    form,
  );
  const whole = inlineWorkflow(caller({ params: { p: "{{in.output}}" } }), "s", other, scope);
  expect(dataOf(whole, "in 2")?.input).toBe("{{in.output.name | upper}} 7");
  expect(dataOf(whole, "z")?.input).toBe("{{in 2.output.x}}");
  expect(whole.edges.map(({ source, target }) => `${source}>${target}`)).toEqual(["t>in", "in>in-2", "in-2>z"]);
  const text = child({ in: agent("") }, ["t>in"]);
  expect(dataOf(inlineWorkflow(caller({ input: "Say {{in.output}}" }), "s", text, scope), "in 2")?.input).toBe("Say {{in.output}}");
  expect(dataOf(inlineWorkflow(caller({}), "s", child({ in: agent("<{{trigger.output}}>") }, ["t>in"]), scope), "in 2")?.input).toBe(
    "<{{in.output}}>",
  );
});

test.each<[string, Record<string, unknown>, Graph, string]>([
  ["several Outputs", {}, child({ a: ["outputNode"], b: ["outputNode"] }, ["t>a", "t>b"]), "several Outputs"],
  [
    "an Output with a text",
    {},
    child({ a: agent(""), o: ["outputNode", { value: "Dear {{a.output}}" }] }, ["t>a", "a>o"]),
    "a text of its own",
  ],
  [
    "an end of the run",
    {},
    child({ a: agent(""), b: ["branchNode"], x: ["terminateNode"] }, ["t>b", "b.true>x", "b.false>a"]),
    "end the whole run",
  ],
  ["what may not be reached", {}, child({ b: ["branchNode"], a: agent("") }, ["t>b", "b.true>a"]), "may not be reached"],
  ["the id of its run", {}, child({ a: agent("{{execution.id}}") }, ["t>a"]), "the id of this run"],
  ["a part of a text", { input: "a {{in.output}}" }, child({ a: agent("{{trigger.output.x}}") }, ["t>a"]), "not one expression"],
  ["what a form passes on", { params: { p: "x" } }, child({ a: agent("") }, ["t>a"], form), "takes what its trigger gives"],
  ["errors that are passed on", { on_error: "continue" }, child({ a: agent("") }, ["t>a"]), "whatever fails in it"],
  ["nothing", {}, child({ o: ["outputNode"] }, ["t>o"]), "does nothing"],
  [
    "a quote in JSON",
    { input: 'a "b"' },
    child({ h: ["httpNode", { url: "https://h.example", body_type: "json", body: '{"a": "{{trigger.output}}"}' }] }, ["t>h"]),
    "quotes or line breaks",
  ],
])("putting in %s is refused", (_, data, other, said) => {
  expect(attempt(() => inlineWorkflow(caller(data), "s", other, scope))).toContain(said);
});

test("an agent's name that would mean two nodes is refused", () => {
  const other = child({ x: ["agentNode", { agent_id: "in" }] }, ["t>x"]);
  const graph = caller({}, { z: agent("{{Agent in.output}}") });
  expect(attempt(() => inlineWorkflow(graph, "s", other, scope))).toContain("Read it by its label");
});
