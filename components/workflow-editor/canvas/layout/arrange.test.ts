import { expect, test } from "vitest";
import { placementAfter } from "#components/workflow-editor/canvas/document/edits.ts";
import type { FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { arrangeNodes } from "#components/workflow-editor/canvas/layout/arrange.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { atDrawnPosition } from "#server/workflow/layout/loop-frames.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, x: number, y: number, data: object = {}) => ({
  ...{ id, type, position: { x, y } },
  data: { label: id, ...data },
});
const graph = (data: object = {}): Graph => ({
  nodes: [node("t", "triggerNode", 0, 0), node("L", "loopNode", 300, 100, data), node("a", "agentNode", 400, 180)],
  edges: [
    { id: "1", source: "t", target: "L" },
    { id: "2", source: "L", sourceHandle: "body", target: "a" },
  ],
});
const placeOf = (store: ReturnType<typeof createEditorStore>, id: string) =>
  store.getState().nodes.find((candidate) => candidate.id === id)?.position;

test.each([{}, { collapsed: true }])("a loop (%j) is lined up together with its body, as one step", (data) => {
  const store = createEditorStore(graph(data));
  const places = arrangeNodes(store.getState(), new Set(["t", "L"]), "top");
  store.getState().place("align top", places ?? new Map());
  expect(placeOf(store, "L")).toEqual({ x: 300, y: 0 });
  expect(placeOf(store, "a")).toEqual({ x: 400, y: 80 });
  // Opened or closed, it stays there.
  store.getState().toggleCollapsed("L");
  expect(placeOf(store, "L")).toEqual({ x: 300, y: 0 });
  store.getState().undo();
  store.getState().undo();
  expect(placeOf(store, "a")).toEqual({ x: 400, y: 180 });
  expect(arrangeNodes(store.getState(), new Set(["L"]), "top")).toBeNull();
});

test("who may only look opens a collapsed loop, which is no change", () => {
  const store = createEditorStore(graph({ collapsed: true }), { isReadOnly: true });
  store.getState().toggleCollapsed("L");
  expect(store.getState().data.L).not.toHaveProperty("collapsed");
  expect(store.getState()).toMatchObject({ revision: 0, history: { past: [] } });
});

test("what is added after a loop comes right of its frame, wherever the loop's own place is", () => {
  const { nodes, edges } = graph();
  // As somebody wrote it through the API: before its body.
  const far = nodes.map((one) => (one.id === "L" ? { ...one, position: { x: 0, y: 400 } } : one));
  const store = createEditorStore({ nodes: far, edges });
  const loop = store.getState().nodes.find(({ id }) => id === "L");
  const { position } = placementAfter(atDrawnPosition(store.getState(), loop as FlowNode), store.getState(), "done");
  expect(position).toEqual({ x: 300 + 330, y: 100 });
});
