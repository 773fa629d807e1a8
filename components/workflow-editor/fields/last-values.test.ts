import { expect, test } from "vitest";
import type { NodeSnapshot } from "#components/runs/store/run-snapshot.ts";
import { connectionsOf } from "#components/workflow-editor/fields/connections-tree.tsx";
import { highlightProblems } from "#components/workflow-editor/fields/expression-field.tsx";
import { expressionOptions } from "#components/workflow-editor/fields/expression-options.ts";
import {
  conditionTrialInput,
  type LastRun,
  lastScope,
  lastUpstream,
  previewOf,
  readableAt,
} from "#components/workflow-editor/fields/last-values.ts";
import { relationsOf } from "#components/workflow-editor/node-panel/node-relations.tsx";
import { findProblems } from "#server/workflow/problems.ts";
import type { Graph } from "#server/workflow/schema.ts";

const at = { x: 0, y: 0 };
const graph: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: at, data: { label: "Start", kind: "params", parameters: [{ name: "items" }] } },
    { id: "r", type: "agentNode", position: at, data: { label: "Research", agent_id: "7" } },
    { id: "h", type: "humanLoopNode", position: at, data: { label: "Check" } },
    { id: "l", type: "loopNode", position: at, data: { label: "Each", items_expression: "{{trigger.items}}" } },
    { id: "b", type: "agentNode", position: at, data: { label: "Body", agent_id: "8", input: "{{Each.current_item}}" } },
    { id: "x", type: "branchNode", position: at, data: { label: "Long", condition: "True" } },
    { id: "n", type: "agentNode", position: at, data: { label: "New", agent_id: "8" } },
    { id: "o", type: "outputNode", position: at, data: { label: "Result", value: "{{Research.output.title}}" } },
  ],
  edges: [
    { id: "1", source: "t", target: "r" },
    { id: "2", source: "r", target: "h" },
    { id: "3", source: "h", target: "l", sourceHandle: "approved" },
    { id: "4", source: "l", target: "b", sourceHandle: "body" },
    { id: "5", source: "l", target: "x", sourceHandle: "done" },
    { id: "6", source: "r", target: "n" },
    { id: "7", source: "n", target: "o" },
    { id: "8", source: "r", target: "o" },
  ],
};
const scope = { agentName: (id: string) => (id === "7" ? "Scout" : undefined), credentialNames: ["TOKEN"] };

const node = (output: string, more: Partial<NodeSnapshot> = {}): NodeSnapshot => ({
  ...{ status: "complete", attempt: 1, iteration: "", output, error: null, arriving: "", started_at: null, duration_ms: 1 },
  ...{ input_tokens: 0, output_tokens: 0, cost: 0, reused: false, whole_length: null },
  ...more,
});
const run: LastRun = {
  executionId: "e1",
  input: JSON.stringify({ items: ["warp", "weft"] }),
  params: {},
  details: {},
  snapshot: {
    status: "completed",
    nodes: {
      t: node("{}"),
      r: node('{"title": "Looms", "tags": [{"name": "old"}]}'),
      h: node("approved: fine"),
      l: node('["a", "b"]'),
      b: node("b", { iteration: "1" }),
    },
    order: [],
    waiting: {},
    bodies: {},
    past: { input: 0, output: 0, cost: 0, isPartial: false },
    output: null,
    error: null,
    created_at: "2026-11-21T08:00:00.000Z",
    duration_ms: 1,
    last_event_id: 9,
  },
};
const readable = (id: string) => readableAt(graph, id, scope);
const reader = (value: string) => ({ id: "reader", type: "outputNode", position: at, data: { label: "Reader", value } });
const preview = (id: string, text: string) =>
  previewOf(text, lastScope(readable(id), run))
    .map(({ kind, text: shown }) => (kind === "missing" ? `?${shown}?` : shown))
    .join("");

test("a text is shown with the values of the run; what has none stays as it is, and secrets stay hidden", () => {
  expect(preview("o", "{{Research.output.title}} by {{scout.output.tags[0].name}}")).toBe("Looms by old");
  expect(preview("o", "{{New.output}}, {{Nobody.output}}")).toBe("?{{New.output}}?, ?{{Nobody.output}}?");
  expect(preview("o", "{{credentials.TOKEN}} in {{execution.id}}")).toBe("•••• in e1");
  expect(preview("l", "{{Check.decision}}: {{Check.comment}}")).toBe("approved: fine");
  expect(preview("x", "{{Each.output}}")).toBe('["a", "b"]');
});

test("inside of a loop the item of the iteration that is shown is read", () => {
  expect(preview("b", "{{Each.index}}: {{Each.current_item}}")).toBe("1: weft");
  expect(lastUpstream(readable("b"), run)).toBe("weft");
  expect(conditionTrialInput(readable("b"), run)).toMatchObject({ before: ["l"], item: "weft" });
});

test("what came before is joined as a run does, and a trial names the nodes that are meant", () => {
  expect(lastUpstream(readable("o"), run)).toBe('{"title": "Looms", "tags": [{"name": "old"}]}');
  expect(conditionTrialInput(readable("x"), run)).toEqual({
    execution_id: "e1",
    before: ["l"],
    outputs: { Each: ["l"], Check: ["h"], Research: ["r"], Scout: ["r"], Start: ["t"] },
  });
});

test("behind a decision, what came to it is shown; conditions read the decision", () => {
  const before: Graph = {
    nodes: [
      ...graph.nodes,
      { id: "if", type: "branchNode", position: at, data: { label: "If", condition: "True" } },
      { id: "z", type: "outputNode", position: at, data: { label: "End" } },
      { id: "else", type: "outputNode", position: at, data: { label: "Else" } },
    ],
    edges: [
      { id: "1", source: "t", target: "r" },
      { id: "2", source: "r", target: "h" },
      { id: "3", source: "h", target: "if", sourceHandle: "approved" },
      { id: "4", source: "if", target: "z", sourceHandle: "true" },
      { id: "5", source: "if", target: "else", sourceHandle: "false" },
      { id: "6", source: "n", target: "else" },
    ],
  };
  const nodes = { ...run.snapshot.nodes, if: node("True"), n: node("otherwise") };
  const then: LastRun = { ...run, snapshot: { ...run.snapshot, nodes } };
  const shown = (id: string, isLiteral?: boolean) => lastUpstream(readableAt(before, id, scope), then, isLiteral);
  expect(shown("if")).toBe('{"title": "Looms", "tags": [{"name": "old"}]}');
  expect(shown("if", true)).toBe("approved: fine");
  expect(shown("z")).toBe('{"title": "Looms", "tags": [{"name": "old"}]}');
  expect(shown("z", true)).toBe("True");
  // The branch went the other way.
  expect(shown("else")).toBe("otherwise");
});

test("what is pinned stands in for what the run left, also of a node that did not run", () => {
  const nodes = graph.nodes.map((one) => (one.id === "n" ? { ...one, data: { ...one.data, pinned: { output: "pinned" } } } : one));
  const at = readableAt({ ...graph, nodes }, "o", scope);
  expect(previewOf("{{New.output}}", lastScope(at, run))).toEqual([{ kind: "value", text: "pinned", source: "{{New.output}}" }]);
  expect(lastUpstream(at, run)).toMatch(/^pinned\n\n/);
  expect(conditionTrialInput(at, run).pinned).toEqual({ n: "pinned" });
  expect(conditionTrialInput(readable("o"), run).pinned).toBeUndefined();
});

test("the list offers what is inside of JSON, with kinds and values; before the first run what an agent's schema promises", () => {
  const options = expressionOptions(readable("n"), run);
  expect(options.slice(0, 3).map(({ expression, kind, lastValue }) => [expression, kind, lastValue])).toEqual([
    ["Research.output", "object", run.snapshot.nodes.r?.output],
    ["Research.output.title", "text", "Looms"],
    ["Research.output.tags", "list of 1", '[{"name":"old"}]'],
  ]);
  const outputSchema = () => ({ type: "object", properties: { title: { type: "string", description: "One line" } } });
  const promised = expressionOptions(readableAt(graph, "n", { ...scope, outputSchema }), null);
  expect(promised[1]).toMatchObject({ expression: "Research.output.title", kind: "string, One line", lastValue: null });
});

test("the tree has the same values, step by step, for texts and for conditions", () => {
  const [each, check] = connectionsOf(readable("x"), run);
  expect(each).toMatchObject({ name: "Each", values: [{ label: "output", kind: "list of 2" }] });
  expect(each?.values[0]?.inside()[1]).toMatchObject({
    expression: "Each.output[1]",
    text: "b",
    python: 'json.loads(node_outputs["Each"])[1]',
  });
  expect(check?.values.map(({ label, text }) => [label, text])).toEqual([
    ["output", "approved: fine"],
    ["decision", "approved"],
    ["comment", "fine"],
  ]);
  const research = connectionsOf(readable("n"), run)[0];
  const tag = research?.values[0]?.inside()[1]?.inside()[0]?.inside()[0];
  expect(tag).toMatchObject({ expression: "Research.output.tags[0].name", text: "old" });
  expect(tag?.python).toBe('json.loads(node_outputs["Research"])["tags"][0]["name"]');
});

test("what cannot be read is marked, with what was probably meant", () => {
  const marks = (text: string) => {
    const nodes = graph.nodes.map((one) => (one.id === "o" ? { ...one, data: { ...one.data, value: text } } : one));
    const changed = { ...graph, nodes };
    const problems = findProblems(changed, scope).flatMap(({ node_id, message }) => (node_id === "o" ? [message] : []));
    const pieces = highlightProblems(text, problems, () => expressionOptions(readableAt(changed, "o", scope), null));
    expect(pieces.map((piece) => piece.text).join("")).toBe(text);
    return pieces.flatMap(({ kind, text: piece, fix }) => (kind === "fault" ? [[piece, fix]] : []));
  };
  expect(marks("{{Research.output}} and {{trigger.items}}")).toEqual([]);
  expect(marks("a {{Resarch.output.tags[0]}} b")).toEqual([["{{Resarch.output.tags[0]}}", "{{Research.output.tags[0]}}"]]);
  expect(marks("{{Research.outptu}} {{trigger.item}} {{Research}}")).toEqual([
    ["{{Research.outptu}}", "{{Research.output}}"],
    ["{{trigger.item}}", "{{trigger.items}}"],
    ["{{Research}}", "{{Research.output}}"],
  ]);
  expect(marks("{{Something else.output}} {{credentials.TOKN}}")).toEqual([
    ["{{Something else.output}}", null],
    ["{{credentials.TOKN}}", "{{credentials.TOKEN}}"],
  ]);
});

test("the relations of a node: before, after, and who reads it", () => {
  const shown = (id: string) =>
    relationsOf(graph, id).map(({ title, relations }) => [
      title,
      ...relations.map(({ label, note }) => [label, note].filter(Boolean).join(" ")),
    ]);
  expect(shown("h")).toEqual([["Before", "Research"], ["After", "Each approved"], ["Read by"]]);
  expect(shown("r").at(-1)).toEqual(["Read by", "Result Value"]);
  expect(shown("t")).toEqual([
    ["After", "Research"],
    ["Read by", "Each Items"],
  ]);
});

test("what puts an expression right keeps its filters, and puts the name of one right", () => {
  const options = expressionOptions(readableAt(graph, "o", scope), run);
  const fixOf = (text: string) => highlightProblems(text, [`${text}: wrong`], () => options)[0]?.fix;
  expect(fixOf("{{Scout.output | uper}}")).toBe("{{Scout.output | upper}}");
  expect(fixOf('{{Scuot.output.title|replace("|", "-") | trim}}')).toBe('{{Scout.output.title |replace("|", "-") | trim}}');
  expect(fixOf("{{Scout.output | uppe[r}}")).toBe("{{Scout.output | upper}}");
  expect(fixOf("{{Scout.output | shuffle}}")).toBeNull();
});

test("names with dots are read, offered and put right", () => {
  const nodes = graph.nodes.map((one) => (one.id === "r" ? { ...one, data: { ...one.data, label: "GPT-4.1 [new]" } } : one));
  const dotted = readableAt({ ...graph, nodes }, "o", { ...scope, agentName: (id) => (id === "7" ? "Scout v2.0" : undefined) });
  const shown = (text: string) => previewOf(text, lastScope(dotted, run)).map(({ kind, text: value }) => `${kind} ${value}`);
  expect(shown("{{GPT-4.1 [new].output.title}}")).toEqual(["value Looms"]);
  expect(shown("{{Scout v2.0.output.tags[0].name}}")).toEqual(["value old"]);
  const options = expressionOptions(dotted, run);
  for (const { expression, lastValue } of options.filter(({ name }) => /\.\d/.test(name)).slice(0, 5))
    expect(shown(`{{${expression}}}`)).toEqual([`value ${lastValue}`]);
  const wrong = "{{GPT-4.1 [nwe].output.title}}";
  expect(highlightProblems(wrong, [`${wrong} names nothing`], () => options)[0]?.fix).toBe("{{GPT-4.1 [new].output.title}}");
  expect(relationsOf({ ...graph, nodes: [...nodes, reader("{{GPT-4.1 [new].output}}")] }, "r").at(-1)?.relations).toMatchObject([
    { id: "reader" },
  ]);
});

test("headers and payload of a webhook's last delivery are shown", () => {
  const nodes = graph.nodes.map((one) => (one.id === "t" ? { ...one, data: { label: "Start", kind: "webhook" } } : one));
  const delivery = { ...run, input: "7", params: { headers: { "x-id": "d-1" }, raw: '{"n":7}' } };
  const hooked = readableAt({ ...graph, nodes }, "o", scope);

  const shown = previewOf("{{trigger.headers.X-Id}} {{trigger.raw}} {{trigger.output}}", lastScope(hooked, delivery));

  expect(shown.map(({ text }) => text).join("")).toBe('d-1 {"n":7} 7');
  expect(expressionOptions(hooked, delivery)).toContainEqual(expect.objectContaining({ expression: "trigger.raw", lastValue: '{"n":7}' }));
});
