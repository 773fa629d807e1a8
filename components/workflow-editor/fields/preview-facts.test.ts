import { expect, test } from "vitest";
import type { NodeSnapshot } from "#components/runs/store/run-snapshot.ts";
import {
  conditionTrialInput,
  type LastRun,
  lastScope,
  lastUpstream,
  previewOf,
  readableAt,
} from "#components/workflow-editor/fields/last-values.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Previews of values other than the output of a node. Each equals the value that the run read.

const scope = { agentName: (id: string) => `Agent ${id}` };
type Nodes = Record<string, [type: string, data: Record<string, unknown>, result?: Partial<NodeSnapshot> | undefined]>;

/** Returns how a run with these results is shown at a node. */
function shownAt(id: string, nodes: Nodes, edges: string[], run: Partial<LastRun> = {}) {
  const all: Nodes = { t: ["triggerNode", { label: "Start" }], ...nodes };
  const graph: Graph = graphOf({
    nodes: Object.fromEntries(Object.entries(all).map(([key, [type, data]]) => [key, [type, data]])) as never,
    edges,
  });
  const snapshots = Object.entries(all).flatMap(([key, [, , result]]) => (result ? [[key, { ...complete, ...result }]] : []));
  // cast: nothing else of a snapshot is read
  const snapshot = { nodes: Object.fromEntries(snapshots) } as unknown as LastRun["snapshot"];
  const last: LastRun = { executionId: "e", input: "in", params: {}, details: {}, ...run, snapshot };
  const readable = readableAt(graph, id, scope);
  return {
    read: (text: string) =>
      previewOf(text, lastScope(readable, last))
        .map(({ kind, text: part }) => (kind === "missing" ? "?" : part))
        .join(""),
    upstream: (isLiteral = false) => lastUpstream(readable, last, isLiteral),
    trial: () => conditionTrialInput(readable, last),
  };
}
const complete: Partial<NodeSnapshot> = {
  status: "complete",
  iteration: "",
  output: "",
  error: null,
  whole_length: null,
  started_at: null,
};
const at = (time: string, output: string): Partial<NodeSnapshot> => ({ output, started_at: `2026-11-21T${time}Z`, duration_ms: 1 });

test("shows the trigger by its label", () => {
  const { read } = shownAt("o", { o: ["outputNode", {}] }, ["t>o"]);

  expect(read("{{Start.output}} {{start.output}} {{trigger.output}}")).toBe("in in in");
});

test("shows the form of an HTTP call as sent", () => {
  const call = { input: '{"body":{"a":"1"}}', params: { raw: "a=1" } };
  const { read } = shownAt("o", { t: ["triggerNode", { kind: "http" }], o: ["outputNode", {}] }, ["t>o"], call);

  expect(read("{{trigger.raw}} {{trigger.output.body.a}}")).toBe("a=1 1");
});

test("shows every part of a skipped node as empty text", () => {
  const skipped = { status: "skipped", output: null } as const;
  const { read } = shownAt("o", { a: ["agentNode", { label: "A", agent_id: "1" }, skipped], o: ["outputNode", {}] }, ["t>a", "a>o"]);

  expect(read("<{{A.output.title[0]}}>")).toBe("<>");
});

test("shows the latest to complete of several nodes of one agent", () => {
  const agent = (label: string): [string, Record<string, unknown>] => ["agentNode", { label, agent_id: "1" }];
  const nodes: Nodes = {
    a: [...agent("A"), at("08:00:02", "late")],
    b: [...agent("B"), at("08:00:01", "early")],
    c: [...agent("C"), { status: "skipped", output: null }],
    o: ["outputNode", {}],
  };
  const { read, trial } = shownAt("o", nodes, ["t>c", "c>b", "b>a", "a>o"]);

  expect(read("{{Agent 1.output}}")).toBe("late");
  expect(trial().outputs["Agent 1"]).toEqual(["a"]);
});

test.each([
  ["its choice", {}, "ship: fine", "ship fine"],
  ["its pin", { pinned: { output: "hold" } }, "ship: fine", "hold "],
])("shows as the decision of a review %s", (_, data, output, expected) => {
  const choices = [
    { id: "ship", label: "Ship", style: "primary" },
    { id: "hold", label: "Hold", style: "danger" },
  ];
  const review: Nodes[string] = ["humanLoopNode", { label: "Check", choices, ...data }, { output }];
  const { read } = shownAt("o", { h: review, o: ["outputNode", {}] }, ["t>h", "h.ship>o"]);

  expect(read("{{Check.decision}} {{Check.comment}}")).toBe(expected);
});

test("shows nothing of what no answer of the API has", () => {
  const nodes: Nodes = {
    c: ["httpNode", { label: "Call", url: "http://example.com/" }, { output: "body" }],
    h: ["humanLoopNode", { label: "Check", text: "a" }, { output: "approved" }],
    o: ["outputNode", {}],
  };
  const { read } = shownAt("o", nodes, ["t>c", "c>h", "h.approved>o"]);

  expect(read("{{Call.status}} {{Check.text}} {{Call.output}}")).toBe("? ? body");
});

test("shows an empty callback address of a wait that has none", () => {
  const { read } = shownAt("o", { w: ["waitNode", { label: "W", mode: "for" }, { output: "done" }], o: ["outputNode", {}] }, [
    "t>w",
    "w.done>o",
  ]);

  expect(read("<{{W.resume_url}}>")).toBe("<>");
});

test("shows a long output but nothing that depends on the rest of it", () => {
  const nodes: Nodes = {
    a: ["agentNode", { label: "A", agent_id: "1" }, { output: "[1,2", whole_length: 300_000 }],
    o: ["outputNode", {}],
  };
  const { read } = shownAt("o", nodes, ["t>a", "a>o"]);

  expect(read("{{A.output}} {{A.output | length}} {{A.output[0]}}")).toBe("[1,2 ? ?");
});

const inLoop = (read: string, results: Record<string, Partial<NodeSnapshot> | undefined>): Nodes => ({
  l: ["loopNode", { label: "Each", items_expression: read }, { output: '["x","y"]' }],
  a: ["agentNode", { label: "A", agent_id: "1" }, results.a],
  b: ["agentNode", { label: "B", agent_id: "2" }, results.b],
  z: ["outputNode", { value: "{{Each.output}}" }],
});
const LOOP_EDGES = ["t>l", "l.body>a", "a>b", "b>z"];

test("shows no output of another item", () => {
  const nodes = inLoop('["p","q"]', { a: { iteration: "1", output: "of q" }, b: { iteration: "0", output: "b" } });
  const { read, trial } = shownAt("b", nodes, LOOP_EDGES);

  expect(read("{{Each.current_item}} {{A.output}}")).toBe("p ?");
  expect(trial().before).toEqual([]);
});

test("shows at a new node in a loop the item of the nodes beside it", () => {
  const { read, upstream } = shownAt("b", inLoop('["p","q"]', { a: { iteration: "1", output: "of q" }, b: undefined }), LOOP_EDGES);

  expect(read("{{Each.index}} {{Each.current_item}} {{A.output}}")).toBe("1 q of q");
  expect(upstream()).toBe("of q");
});

test("shows the items of a fenced list", () => {
  const { read } = shownAt("a", inLoop("{{trigger.output}}", {}), LOOP_EDGES, { input: '```json\n["p"]\n```' });

  expect(read("{{Each.current_item}}")).toBe("p");
});

test("shows the output of a loop behind the last node of its body", () => {
  const { upstream, trial } = shownAt("z", inLoop('["p","q"]', { b: { iteration: "1", output: "y" } }), LOOP_EDGES);

  expect(upstream()).toBe('["x","y"]');
  expect(trial().before).toEqual(["l"]);
});

test("keeps a loop around the node from its conditions", () => {
  const nodes = inLoop('["p","q"]', { a: { iteration: "1", output: "of q" }, b: undefined });

  expect(Object.keys(shownAt("b", nodes, LOOP_EDGES).trial().outputs)).not.toContain("Each");
});

test("tries a condition on live edges alone", () => {
  const nodes: Nodes = {
    s: ["switchNode", { cases: [{ id: "a", label: "A", condition: "True" }] }, { output: "A" }],
    x: ["agentNode", { label: "X", agent_id: "1" }, { output: "x" }],
    o: ["branchNode", { condition: "output" }],
  };
  const { trial } = shownAt("o", nodes, ["t>s", "t>x", "s.default>o", "x>o"]);

  expect(trial().before).toEqual(["x"]);
});

test("follows a failed node that continues by the way of its failures", () => {
  const cases = [{ id: "a", label: "A", condition: "x" }];
  const failed: Nodes[string] = ["switchNode", { cases, on_error: "continue" }, { status: "failed", output: null, error: "no" }];
  const nodes: Nodes = { s: failed, x: ["agentNode", { agent_id: "1" }, { output: "x" }], o: ["outputNode", {}], p: ["outputNode", {}] };
  const edges = ["t>s", "t>x", "s.default>o", "s.a>p", "x>o", "x>p"];

  expect(shownAt("o", nodes, edges).upstream(true)).toBe("no\n\nx");
  expect(shownAt("p", nodes, edges).upstream(true)).toBe("x");
});
