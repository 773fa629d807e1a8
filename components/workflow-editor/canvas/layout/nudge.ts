import type { NodeChange } from "@xyflow/react";
import type { FlowDocument, FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { carried, whereDrawn } from "#components/workflow-editor/canvas/geometry/loop-frames.ts";

const ARROWS: Readonly<Record<string, { x: number; y: number }>> = {
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
};
/** How far an arrow key moves: freely, from line to line of the grid, and how many times that with Shift. As React Flow does. */
const STEP = { free: 5, grid: 10, far: 4 } as const;

interface Pressed {
  key: string;
  ctrlKey: boolean;
  metaKey: boolean;
  altKey: boolean;
  shiftKey: boolean;
}

/** Where an arrow key moves to; null for every other key. */
export function arrowOf({ key, ctrlKey, metaKey, altKey, shiftKey }: Pressed): { x: number; y: number } | null {
  const arrow = ARROWS[key];
  if (!arrow || ctrlKey || metaKey || altKey) return null;
  const factor = shiftKey ? STEP.far : 1;
  return { x: arrow.x * factor, y: arrow.y * factor };
}

/** Moves of what is selected by these steps, frames with their bodies; an edit for `onNodesChange`, which joins a burst of them. */
export function nudge(document: FlowDocument, by: { x: number; y: number }, isSnapping: boolean): NodeChange<FlowNode>[] {
  const size = isSnapping ? STEP.grid : STEP.free;
  const snapped = (value: number) => (isSnapping ? Math.round(value / STEP.grid) * STEP.grid : value);
  const moves = new Map(
    document.nodes
      .filter((node) => node.selected)
      .map((node) => {
        const { x, y } = whereDrawn(document, node).position;
        return [node.id, { x: snapped(x + by.x * size), y: snapped(y + by.y * size) }] as const;
      }),
  );
  return [...carried(document, moves)].map(([id, position]) => ({ id, type: "position", position, dragging: false }));
}
