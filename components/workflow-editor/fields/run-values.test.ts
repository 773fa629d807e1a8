import { expect, test } from "vitest";
import { coerceParameter, initialText, inputToRepeat } from "#components/workflow-editor/fields/run-values.ts";
import { needsInput } from "#components/workflow-editor/test-runs/trigger-needs.ts";
import { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

const parameter = (fields: object) => TriggerParameter.parse({ name: "p", ...fields });

test("typed text becomes a value of the parameter's type, or a sentence", () => {
  expect(coerceParameter(parameter({ type: "number" }), " 2,5 ")).toEqual({ value: 2.5 });
  expect(coerceParameter(parameter({ type: "number" }), "two")).toEqual({ error: '"two" is no number.' });
  expect(coerceParameter(parameter({ type: "array" }), "[1]")).toEqual({ value: [1] });
  expect(coerceParameter(parameter({ type: "array" }), "{}")).toHaveProperty("error");
  expect(coerceParameter(parameter({ type: "object" }), "{oops")).toEqual({ error: "This is not valid JSON." });
  expect(coerceParameter(parameter({ type: "boolean" }), "true")).toEqual({ value: true });
});

test("an empty field leaves the default, and is refused where there must be a value", () => {
  expect(coerceParameter(parameter({ required: true }), "")).toEqual({ error: "Fill this in." });
  expect(coerceParameter(parameter({ required: true, default: "x" }), "")).toEqual({ value: undefined });
  expect(coerceParameter(parameter({}), "")).toEqual({ value: undefined });
});

test("defaults fill the form", () => {
  expect(initialText(parameter({ type: "object", default: { a: 1 } }))).toBe('{"a":1}');
  expect(initialText(parameter({ type: "boolean" }))).toBe("false");
  expect(initialText(parameter({ type: "select", options: ["a"], default: "gone" }))).toBe("");
});

const node = (id: string, type: string, data: object): GraphNode => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const edges = [{ id: "e", source: "t", target: "a" }];

test("a run asks for a text only when something reads it", () => {
  const trigger = node("t", "triggerNode", { kind: "manual" });
  expect(needsInput({ nodes: [trigger], edges: [] })).toBe(false);
  expect(needsInput({ nodes: [trigger, node("a", "agentNode", { input: "Tell a joke" })], edges })).toBe(false);
  expect(needsInput({ nodes: [trigger, node("a", "agentNode", { input: "" })], edges })).toBe(true);
  expect(needsInput({ nodes: [trigger, node("a", "agentNode", { input: "About {{ trigger.output }}" })], edges })).toBe(true);
  expect(needsInput({ nodes: [node("t", "triggerNode", { kind: "manual", input_label: "Topic" })], edges: [] })).toBe(true);
  expect(needsInput({ nodes: [node("t", "triggerNode", { kind: "params", parameters: [{ name: "a" }] })], edges: [] })).toBe(true);
});

const start = node("t", "triggerNode", { kind: "manual", label: "Start here" });
const asks = (read: GraphNode, more: GraphNode[] = [], lines = edges) => needsInput({ nodes: [start, read, ...more], edges: lines });
const far = [
  { id: "1", source: "t", target: "b" },
  { id: "2", source: "b", target: "a" },
];
const between = node("b", "outputNode", { value: "fixed" });

test.each([
  ['"yes" in output', true],
  ["True", false],
  ['"output" == "output"', false],
  ["json.loads(trigger_output)['n'] > 1", true],
  ['f"{output}" == "x"', true],
  ["node_outputs['Start here'] == ''", true],
  ['node_outputs.get("Start here", "")', true],
  ['node_outputs["b"]', false],
  ["any(node_outputs.values())", true],
  ["re.output", false],
])("a run asks for a text when the condition %s behind the trigger reads it", (condition, expected) => {
  expect(asks(node("a", "branchNode", { condition }))).toBe(expected);
});

test("what comes after another node reads that one's output", () => {
  expect(asks(node("a", "branchNode", { condition: "output" }), [between], far)).toBe(false);
  expect(asks(node("a", "branchNode", { condition: "trigger_output" }), [between], far)).toBe(true);
});

test.each(["{{Start here.output}}", "{{start_here.output}}", "{{ trigger.output }}", "{{Trigger.output}}"])(
  "a run asks for a text when %s reads it",
  (value) => {
    expect(asks(node("a", "outputNode", { value }))).toBe(true);
    expect(asks(node("a", "outputNode", { value }), [between], far)).toBe(true);
  },
);

test("a name that another node has is not the trigger's", () => {
  expect(asks(node("a", "outputNode", { value: "{{Trigger.output}}" }), [node("b", "outputNode", { label: "Trigger", value: "x" })])).toBe(
    false,
  );
});

test("behind a decision the text goes on, and a condition there reads the decision", () => {
  const review = node("b", "humanLoopNode", { display_value: "fixed" });
  expect(asks(node("a", "outputNode", {}), [review], far)).toBe(true);
  expect(asks(node("a", "branchNode", { condition: "output" }), [review], far)).toBe(false);
});

test("what is switched off reads nothing, and lets the text through", () => {
  expect(asks(node("a", "outputNode", { value: "{{trigger.output}}", disabled: true }))).toBe(false);
  expect(asks(node("a", "outputNode", { value: "" }), [{ ...between, data: { ...between.data, disabled: true } }], far)).toBe(true);
});

test("a review passes on its content only", () => {
  expect(asks(node("a", "humanLoopNode", { title: "", display_value: "This" }))).toBe(false);
  expect(asks(node("a", "humanLoopNode", { title: "Fine?", display_value: "" }))).toBe(true);
});

test.each([
  ["JSON", '{ "n": 7 }', '{ "n": 7 }'],
  ["a form", "n=7", '{"n":"7"}'],
])("a webhook run of %s is repeated with JSON", (_, raw, input) => {
  const graph = { nodes: [{ type: "triggerNode", data: { kind: "webhook" } }] };
  const view = { graph, params: { headers: {}, raw }, execution: { input: raw === input ? "7" : '{"n":"7"}' } };

  expect(inputToRepeat(view as never)).toBe(input);
});
