import { expect, test } from "vitest";
import { canvasDiff, comparisonGraph, comparisonId } from "#components/workflow-editor/canvas/document/comparison.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { bodiesOf } from "#server/workflow/layout/loop-frames.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

const node = (id: string, x: number, more: object = {}, type = "outputNode"): GraphNode => ({
  id,
  type,
  position: { x, y: 0 },
  data: { label: id, ...more },
});
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}-${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});
const words = { added: "New", changed: "Changed", removed: "Removed", moved: "Moved" };

function compared(before: Graph, after: Graph) {
  const diff = diffGraphs(before, after);
  return { graph: comparisonGraph(after, diff), marks: canvasDiff(diff, words) };
}

test("both sides are drawn: what is gone as a ghost that stands in nobody's place, under ids of its own", () => {
  const before = { nodes: [node("a", 0), node("gone", 300)], edges: [edge("a", "gone")] };
  const after = { nodes: [node("a", 0), node("new", 310)], edges: [edge("a", "new")] };
  const { graph, marks } = compared(before, after);
  expect(graph.nodes.map(({ id }) => id)).toEqual(["a", "new", "gone"].map(comparisonId));
  const [, fresh, ghost] = graph.nodes;
  expect(Math.abs((ghost?.position.y ?? 0) - (fresh?.position.y ?? 0))).toBeGreaterThan(100);
  expect(graph.edges).toMatchObject([
    { source: comparisonId("a"), target: comparisonId("new") },
    { source: comparisonId("a"), target: comparisonId("gone") },
  ]);
  expect(marks).toEqual({
    nodes: { [comparisonId("new")]: "added", [comparisonId("gone")]: "removed" },
    edges: { [comparisonId("a-new")]: "added", [comparisonId("a-gone")]: "removed" },
    words,
  });
  expect(new Set([...graph.nodes, ...graph.edges].map(({ id }) => id)).size).toBe(5);
});

test("a connection that was turned round, and a loop that lost a node and is folded, can be drawn", () => {
  const loop = (more = {}) => node("loop", 300, more, "loopNode");
  const before = { nodes: [node("a", 0), loop(), node("in", 600)], edges: [edge("a", "loop"), edge("loop", "in", "body")] };
  const after = { nodes: [node("a", 0), loop({ collapsed: true })], edges: [edge("loop", "a", "done")] };
  const { graph, marks } = compared(before, after);
  expect(marks.nodes[comparisonId("loop")]).toBe("moved");
  const editor = createEditorStore(graph, { isReadOnly: true });
  expect(editor.getState().data[comparisonId("loop")]).not.toHaveProperty("collapsed");
  expect(bodiesOf(editor.getState()).loops).toEqual([comparisonId("loop")]);
});
