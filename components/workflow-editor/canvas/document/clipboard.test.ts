import { expect, test } from "vitest";
import { fromClipboard, toClipboard } from "#components/workflow-editor/canvas/document/clipboard.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import type { Graph } from "#server/workflow/schema.ts";

const graph: Graph = {
  nodes: [{ id: "a", type: "agentNode", position: { x: 0, y: 0 }, data: { label: "Research", input: "{{trigger.output}}" } }],
  edges: [],
};

test("copied nodes come back from the clipboard", () => {
  expect(fromClipboard(toClipboard(graph))).toEqual(graph);
});

test("an exported workflow can be pasted, other text cannot", () => {
  expect(fromClipboard(JSON.stringify({ name: "Daily", ...graph }))).toEqual(graph);
  for (const text of [
    "",
    "hello",
    "{",
    "[]",
    "{}",
    JSON.stringify({ nodes: [], edges: [] }),
    JSON.stringify({ nodes: [{ id: 1 }], edges: [] }),
  ])
    expect(fromClipboard(text)).toBeNull();
});

test("pasting into another workflow puts the nodes at the pointer and leaves its own trigger alone", () => {
  const trigger = { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } };
  const store = createEditorStore({ nodes: [trigger], edges: [] });
  const pasted = fromClipboard(
    toClipboard({ nodes: [{ ...trigger, data: { label: "Other" } }, ...graph.nodes], edges: [{ id: "e", source: "t", target: "a" }] }),
  );
  store.getState().paste(pasted ?? graph, { x: 500, y: 70 });
  const { nodes, edges } = store.getState().graph();
  expect(nodes.map((node) => node.data.label)).toEqual(["Start", "Research"]);
  expect(nodes[1]?.position).toEqual({ x: 500, y: 70 });
  expect(nodes[1]?.id).not.toBe("a");
  expect(edges).toEqual([]);
});
