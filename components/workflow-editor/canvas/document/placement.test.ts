import { expect, test } from "vitest";
import { soleEndNode } from "#components/workflow-editor/canvas/document/edits.ts";
import { toFlow } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { shiftInto } from "#components/workflow-editor/canvas/use-view.ts";
import type { GraphNode } from "#server/workflow/schema.ts";

test("what lies in view is not moved, what does not is moved by no more than it takes", () => {
  expect(shiftInto(50, 100, 10, 200)).toBe(0);
  expect(shiftInto(180, 230, 10, 200)).toBe(-30);
  expect(shiftInto(-20, 30, 10, 200)).toBe(30);
  expect(shiftInto(50, 500, 10, 200)).toBe(-40);
});

const node = (id: string, type: string): GraphNode => ({ id, type, position: { x: 0, y: 0 }, data: { label: id } });

test("a workflow with one loose end goes on from there, one with several does not guess", () => {
  const nodes = [node("t", "triggerNode"), node("a", "agentNode"), node("n", "noteNode")];
  const edges = [{ id: "e", source: "t", target: "a" }];
  expect(soleEndNode(toFlow({ nodes, edges }))?.id).toBe("a");
  expect(soleEndNode(toFlow({ nodes, edges: [] }))).toBeUndefined();
  expect(soleEndNode(toFlow({ nodes: [node("t", "triggerNode")], edges: [] }))?.id).toBe("t");
});
