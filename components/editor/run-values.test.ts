import { expect, test } from "vitest";
import { coerceParameter, initialText } from "#components/editor/run-values.ts";
import { needsInput } from "#components/editor/trigger-needs.ts";
import { TriggerParameter } from "#server/engine/nodes/trigger-node.ts";
import type { GraphNode } from "#server/schemas/graph.ts";

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
