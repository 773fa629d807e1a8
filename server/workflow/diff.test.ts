import { expect, test } from "vitest";
import { countDiff, diffGraphs } from "#server/workflow/diff.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

const node = (id: string, data: Record<string, unknown> = {}, more: object = {}): GraphNode => ({
  id,
  type: "agentNode",
  position: { x: 0, y: 0 },
  data: { label: id, ...data },
  ...more,
});
const edge = (id: string, source: string, target: string, more: object = {}) => ({ id, source, target, ...more });
const graph = (nodes: GraphNode[], edges: Graph["edges"] = []): Graph => ({ nodes, edges });

test("the same graph has no differences, whatever the order of nodes and keys, and what is null or only drawn", () => {
  const one = graph(
    [node("a", { input: "x", prices: { b: 1, a: 2 }, none: null }), node("b")],
    [edge("e", "a", "b", { sourceHandle: null })],
  );
  const other = graph(
    [node("b", {}, { selected: true, measured: { width: 1 } }), { ...node("a"), data: { prices: { a: 2, b: 1 }, input: "x", label: "a" } }],
    [edge("e", "a", "b")],
  );
  expect(diffGraphs(one, other)).toEqual({ nodes: [], edges: [] });
});

test("ports without a name may be called by the names of all such ports", () => {
  const plain = graph([node("a"), node("b")], [edge("e", "a", "b")]);
  const named = graph([node("a"), node("b")], [edge("e", "a", "b", { sourceHandle: "output", targetHandle: "input" })]);
  const anew = graph([node("a"), node("b")], [edge("f", "a", "b", { targetHandle: "input" })]);
  for (const other of [named, anew]) expect(diffGraphs(plain, other)).toEqual({ nodes: [], edges: [] });
});

test("nodes are added, removed, changed field by field, or only moved", () => {
  const before = graph([node("a", { input: "old", retries: 3 }), node("b"), node("c"), node("d")]);
  const after = graph([
    node("a", { input: "new", tone: "dry" }),
    node("b", {}, { position: { x: 9, y: 0 } }),
    node("d", {}, { type: "outputNode" }),
    node("n"),
  ]);
  const diff = diffGraphs(before, after);
  expect(diff.nodes.map(({ id, kind, fields }) => [id, kind, fields])).toEqual([
    [
      "a",
      "changed",
      [
        { field: "input", before: "old", after: "new" },
        { field: "tone", before: undefined, after: "dry" },
        { field: "retries", before: 3, after: undefined },
      ],
    ],
    ["b", "moved", []],
    ["d", "changed", [{ field: "type", before: "agentNode", after: "outputNode" }]],
    ["n", "added", []],
    ["c", "removed", []],
  ]);
  expect(countDiff(diff)).toEqual({ nodes_added: 1, nodes_changed: 2, nodes_removed: 1, edges_changed: 0 });
});

test("a field that is left out is the same as one that is set to what it would be anyway", () => {
  const [bare, filled] = [graph([node("a")]), graph([node("a", { retries: 2, on_error: "fail", timeout: 9 })])];
  expect(diffGraphs(bare, filled).nodes[0]?.fields).toEqual([{ field: "timeout", before: undefined, after: 9 }]);
});

test("a connection that was drawn anew is the same one; another end or way out is a change", () => {
  const nodes = [node("a"), node("b"), node("c")];
  const before = graph(nodes, [edge("1", "a", "b"), edge("2", "b", "c", { sourceHandle: "true" }), edge("3", "a", "c")]);
  const after = graph(nodes, [edge("9", "a", "b"), edge("2", "b", "c", { sourceHandle: "false" }), edge("4", "c", "a")]);
  const diff = diffGraphs(before, after);
  expect(diff.edges.map(({ id, kind, fields }) => [id, kind, fields])).toEqual([
    ["2", "changed", [{ field: "sourceHandle", before: "true", after: "false" }]],
    ["4", "added", []],
    ["3", "removed", []],
  ]);
  expect(countDiff(diff).edges_changed).toBe(3);
});
