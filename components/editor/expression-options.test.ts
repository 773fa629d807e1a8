import { expect, test } from "vitest";
import { expressionOptions, insertExpression, openExpression } from "#components/editor/expression-options.ts";
import type { Graph } from "#server/schemas/graph.ts";

const graph: Graph = {
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "params", parameters: [{ name: "topic" }] } },
    { id: "a", type: "agentNode", position: { x: 1, y: 0 }, data: { label: "Research", agent_id: "7" } },
    { id: "b", type: "agentNode", position: { x: 2, y: 0 }, data: { label: "Write" } },
    { id: "o", type: "outputNode", position: { x: 3, y: 0 }, data: { label: "Output" } },
    { id: "x", type: "agentNode", position: { x: 3, y: 0 }, data: { label: "Elsewhere" } },
  ],
  edges: [
    { id: "1", source: "t", target: "a" },
    { id: "2", source: "a", target: "b" },
    { id: "3", source: "b", target: "o" },
    { id: "4", source: "t", target: "x" },
  ],
};
const scope = { agentName: (id: string) => (id === "7" ? "Scout" : undefined) };

test("everything upstream can be read, the nearest first; nothing beside or behind", () => {
  const names = expressionOptions(graph, "o", scope, null).map((option) => option.expression);
  expect(names).toEqual(["Write.output", "Research.output", "trigger.topic", "trigger.output", "Scout.output", "execution.id"]);
  expect(expressionOptions(graph, "a", scope, null).map((option) => option.expression)).not.toContain("Write.output");
});

test("two braces or a slash at the beginning of a word open the list", () => {
  expect(openExpression("Ask {{Res", 9)).toEqual({ start: 4, query: "Res" });
  expect(openExpression("Ask /", 5)).toEqual({ start: 4, query: "" });
  expect(openExpression("/wr", 3)).toEqual({ start: 0, query: "wr" });
  expect(openExpression("https://", 8)).toBeNull();
  expect(openExpression("{{a.output}} then", 17)).toBeNull();
});

test("the beginning is replaced, and closing braces are not doubled", () => {
  expect(insertExpression("Ask {{Res}} now", 4, 9, "Research.output")).toEqual({ text: "Ask {{Research.output}} now", caret: 23 });
  expect(insertExpression("Ask /re now", 4, 7, "trigger.output").text).toBe("Ask {{trigger.output}} now");
});
