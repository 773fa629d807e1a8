import type { NodeChange } from "@xyflow/react";
import type { FlowDocument, FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { alignLoopsToFrames, atDrawnPosition, movesWithBodies } from "#server/workflow/layout/loop-frames.ts";
import { sizeOf } from "#server/workflow/layout/node-size.ts";

/** How selected nodes are lined up, or spaced out evenly. */
export type Arrangement = "left" | "center" | "right" | "top" | "middle" | "bottom" | "across" | "down";

export const ARRANGEMENTS: Record<Arrangement, { label: string; least: number }> = {
  left: { label: "Align left", least: 2 },
  center: { label: "Align centres", least: 2 },
  right: { label: "Align right", least: 2 },
  top: { label: "Align top", least: 2 },
  middle: { label: "Align middles", least: 2 },
  bottom: { label: "Align bottom", least: 2 },
  across: { label: "Space out across", least: 3 },
  down: { label: "Space out down", least: 3 },
};

type Axis = "x" | "y";

/** Equal gaps between neighbours; the outermost two stay where they are. */
function spaced(nodes: readonly FlowNode[], axis: Axis): Map<string, number> {
  const length = (node: FlowNode) => sizeOf(node)[axis === "x" ? "width" : "height"];
  const order = [...nodes].sort((a, b) => a.position[axis] - b.position[axis]);
  const [first, last] = [order[0], order.at(-1)];
  if (!first || !last) return new Map();
  const inner = order.slice(0, -1).reduce((sum, node) => sum + length(node), 0);
  const gap = (last.position[axis] - first.position[axis] - inner) / (order.length - 1);
  let at = first.position[axis];
  return new Map(
    order.map((node) => {
      const place = [node.id, Math.round(at)] as const;
      at += length(node) + gap;
      return place;
    }),
  );
}

/** One line for all: at `share` of each node's length (0 its beginning, 1 its end) and of all of them together. */
function aligned(nodes: readonly FlowNode[], axis: Axis, share: number): Map<string, number> {
  const length = (node: FlowNode) => sizeOf(node)[axis === "x" ? "width" : "height"];
  const low = Math.min(...nodes.map((node) => node.position[axis]));
  const high = Math.max(...nodes.map((node) => node.position[axis] + length(node)));
  const line = low + (high - low) * share;
  return new Map(nodes.map((node) => [node.id, Math.round(line - length(node) * share)]));
}

const RULES: Record<Arrangement, (nodes: readonly FlowNode[]) => [Axis, Map<string, number>]> = {
  left: (nodes) => ["x", aligned(nodes, "x", 0)],
  center: (nodes) => ["x", aligned(nodes, "x", 0.5)],
  right: (nodes) => ["x", aligned(nodes, "x", 1)],
  top: (nodes) => ["y", aligned(nodes, "y", 0)],
  middle: (nodes) => ["y", aligned(nodes, "y", 0.5)],
  bottom: (nodes) => ["y", aligned(nodes, "y", 1)],
  across: (nodes) => ["x", spaced(nodes, "x")],
  down: (nodes) => ["y", spaced(nodes, "y")],
};

/** Where the nodes with these ids go, loops with their bodies; null when there are too few. */
export function arrangeNodes(
  document: FlowDocument,
  ids: ReadonlySet<string>,
  how: Arrangement,
): Map<string, { x: number; y: number }> | null {
  const drawn = alignLoopsToFrames(document);
  const chosen = drawn.nodes.filter((node) => ids.has(node.id));
  if (chosen.length < ARRANGEMENTS[how].least) return null;
  const [axis, places] = RULES[how](chosen);
  return movesWithBodies(
    drawn,
    new Map(chosen.map((node) => [node.id, { ...node.position, [axis]: places.get(node.id) ?? node.position[axis] }])),
  );
}

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
        const { x, y } = atDrawnPosition(document, node).position;
        return [node.id, { x: snapped(x + by.x * size), y: snapped(y + by.y * size) }] as const;
      }),
  );
  return [...movesWithBodies(document, moves)].map(([id, position]) => ({ id, type: "position", position, dragging: false }));
}
