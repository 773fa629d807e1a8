import { expect, test } from "vitest";
import { graphOf } from "#server/testing/golden-play.ts";
import { withPins } from "#server/workflow/pins.ts";
import { triggerReaders } from "#server/workflow/trigger-readers.ts";

type Nodes = Parameters<typeof graphOf>[0]["nodes"];

const agent = (input = "fixed"): Nodes[string] => ["agentNode", { input }];
const trigger: Nodes[string] = ["triggerNode", { label: "Start" }];

/** Nodes that read the trigger, with `A` after it and what follows `A`. */
const readers = (nodes: Nodes, edges: string[]) => triggerReaders(graphOf({ nodes: { t: trigger, ...nodes }, edges })).readers;

const READING: [what: string, node: Nodes[string]][] = [
  ["an expression", agent("{{trigger.output}}")],
  ["an expression with a parameter", agent("{{ trigger.topic | upper }}")],
  ["an expression with headers of a webhook", agent("{{trigger.headers.X}}")],
  ["an expression with the payload as sent", agent("{{trigger.raw}}")],
  ["an expression with another case of letters", agent("{{Trigger.output}}")],
  ["an expression with the trigger's label", agent("{{Start.output}}")],
  ["an empty field", agent("")],
  ["a field that expressions may leave empty", agent("{{execution.id}}")],
  ["a condition with its input", ["branchNode", { condition: '"x" in output' }]],
  ["a condition with trigger_output", ["branchNode", { condition: "trigger_output == ''" }]],
  ["a condition with the trigger's name", ["branchNode", { condition: 'node_outputs["Start"] == ""' }]],
  ["an input of its code", ["codeNode", { code: "x", inputs: [{ name: "x", value: "{{trigger.output}}" }] }]],
  ["the items of a loop", ["loopNode", { items_expression: "{{trigger.output}}" }]],
  ["what a review shows", ["humanLoopNode", { display_value: "" }]],
];

test.each(READING)("finds a node that reads the trigger by %s", (_, node) => {
  expect(readers({ a: node }, ["t>a"])).toEqual(["a"]);
});

const BESIDE: [what: string, node: Nodes[string]][] = [
  ["a fixed text", agent("fixed")],
  ["a text around expressions", agent("Run {{execution.id}}")],
  ["code without inputs", ["codeNode", { code: "1 + 1" }]],
  ["a call without a body", ["httpNode", { method: "GET", url: "https://example.com", body_type: "none" }]],
  ["a review of a fixed text", ["humanLoopNode", { display_value: "Go on?" }]],
];

test.each(BESIDE)("passes over %s", (_, node) => {
  expect(readers({ a: node }, ["t>a"])).toEqual([]);
});

test("follows the trigger's output through nodes that only decide", () => {
  const review: Nodes[string] = ["humanLoopNode", { display_value: "Go on?" }];

  expect(readers({ a: review, b: agent("") }, ["t>a", "a.approved>b"])).toEqual(["b"]);
});

test("stops at a node that makes an output of its own", () => {
  expect(readers({ a: agent(), b: agent("") }, ["t>a", "a>b"])).toEqual([]);
});

test("stands a loop in for a reader in its body", () => {
  const nodes = { L: ["loopNode", { items_expression: "[1]" }] as Nodes[string], a: agent("{{trigger.output}}") };

  expect(readers(nodes, ["t>L", "L.body>a"])).toEqual(["L"]);
});

test("lists the body of a loop among the dependents", () => {
  const nodes = { t: trigger, a: agent("{{trigger.output}}"), L: ["loopNode", { items_expression: "[1]" }] as Nodes[string], b: agent() };

  const { dependents } = triggerReaders(graphOf({ nodes, edges: ["t>a", "a>L", "L.body>b"] }));

  expect([...dependents]).toEqual(["a", "L", "b"]);
});

test("passes over a node whose output is pinned", () => {
  const nodes = { t: trigger, a: ["agentNode", { input: "", pinned: { output: "x" } }] as Nodes[string] };

  expect(triggerReaders(withPins(graphOf({ nodes, edges: ["t>a"] }))).readers).toEqual([]);
});

test("lists what follows a reader among the dependents", () => {
  const nodes = { t: trigger, a: agent(), b: agent("{{trigger.output}}"), c: agent(), d: agent() };

  const { readers, dependents } = triggerReaders(graphOf({ nodes, edges: ["t>a", "a>b", "b>c", "t>d"] }));

  expect([readers, [...dependents]]).toEqual([["b"], ["b", "c"]]);
});
