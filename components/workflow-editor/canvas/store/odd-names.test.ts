import { expect, test } from "vitest";
import { createRunStore } from "#components/runs/store/run-store.ts";
import { canvasDiff } from "#components/workflow-editor/canvas/document/comparison.ts";
import { moveToLoop } from "#components/workflow-editor/canvas/document/loop-edits.ts";
import { searchNodes } from "#components/workflow-editor/canvas/document/node-search.ts";
import { createCanvasUiStore } from "#components/workflow-editor/canvas/store/canvas-ui-store.ts";
import { createEditorStore } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { fieldTitle, formatFieldValue } from "#components/workflow-editor/history/version-format.ts";
import { diffGraphs } from "#server/workflow/diff.ts";
import { bodiesOf, framesOf } from "#server/workflow/layout/loop-frames.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Names that every object has by itself, as ids, labels and fields.

const graphWith = (odd: string): Graph => ({
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } },
    { id: odd, type: "agentNode", position: { x: 300, y: 0 }, data: { label: odd, [odd]: "aside" } },
    { id: "l", type: "loopNode", position: { x: 600, y: 0 }, data: { label: "Each", items_expression: "[1]" } },
    { id: "in", type: "outputNode", position: { x: 700, y: 100 }, data: { label: "In", value: "x" } },
  ],
  edges: [
    { id: "1", source: "t", target: odd },
    { id: "2", source: odd, target: "l" },
    { id: "3", source: "l", target: "in", sourceHandle: "body" },
  ],
});

test.each(["constructor", "toString", "__proto__", "valueOf"])("a node %s stands on the canvas as any other", async (odd) => {
  const store = createEditorStore(graphWith(odd));
  const state = () => store.getState();
  await state().tidy();
  const x = (id: string) => state().nodes.find((node) => node.id === id)?.position.x ?? Number.NaN;
  expect(x("t")).toBeLessThan(x(odd));
  expect(x(odd)).toBeLessThan(x("l"));
  expect(bodiesOf(state()).owner[odd]).toBeUndefined();
  expect(framesOf(state(), bodiesOf(state()), new Set()).size).toBe(1);
  const moved = moveToLoop(state(), [odd], "l");
  expect("document" in moved && bodiesOf(moved.document).owner[odd]).toBe("l");
  expect(searchNodes({ ...state(), agentName: () => null }, "aside")).toMatchObject([{ nodeId: odd }]);
  state().setDisabled([odd], true);
  expect(state().data[odd]).toMatchObject({ label: odd, disabled: true });
  state().rename(odd, "Scout");
  state().selectOnly(odd);
  state().duplicateSelected();
  expect(
    state()
      .graph()
      .nodes.map(({ data }) => data.label),
  ).toEqual(["Start", "Scout", "Each", "In", "Scout 2"]);
  expect(canvasDiff(diffGraphs(graphWith("a"), graphWith("a")), {} as never).nodes[odd]).toBeUndefined();
});

test.each(["constructor", "toString", "__proto__", "valueOf"])("nothing is told of a node %s that nothing is known of", (odd) => {
  const ui = createCanvasUiStore();
  expect(ui.getState().problemCounts[odd]).toBeUndefined();
  ui.getState().setProblems([{ node_id: odd, field: null, message: "x", severity: "error" }]);
  expect(ui.getState().problemCounts[odd]).toBe(1);
  const run = createRunStore();
  run.getState().pick("l", 1);
  expect([run.getState().picked[odd], run.getState().stale[odd]]).toEqual([undefined, undefined]);
  expect(fieldTitle("agentNode", odd)).toContain(odd.replaceAll("_", " ").slice(1));
  expect(formatFieldValue("agentNode", odd, undefined, { agent: () => null, workflow: () => undefined })).toBe("(empty)");
});
