import type { FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { type Bodies, descendantsOf, type Frame, loopsAround } from "#server/workflow/layout/loop-frames.ts";
import { sizeOf } from "#server/workflow/layout/node-size.ts";

// What becomes of nodes that are dragged over the frames of loops. Pure; see use-loop-frames.ts for the way onto the canvas.

export interface Point {
  x: number;
  y: number;
}
interface Box extends Point {
  width: number;
  height: number;
}

/** Where the pointer is on the canvas, and the node that it took hold of; null for a selection that is held between its nodes. */
export interface PointerGrab {
  nodeId: string | null;
  point: Point | null;
}

const within = ({ x, y }: Point, frame: Box) => x >= frame.x && x <= frame.x + frame.width && y >= frame.y && y <= frame.y + frame.height;

function shared(a: Box, b: Box): number {
  const width = Math.min(a.x + a.width, b.x + b.width) - Math.max(a.x, b.x);
  const height = Math.min(a.y + a.height, b.y + b.height) - Math.max(a.y, b.y);
  return width > 0 && height > 0 ? width * height : 0;
}

/** The innermost frame that would take a card: the pointer is in it, or at least half of the card. */
export function frameForBox(
  box: Box,
  point: Point | null,
  frames: ReadonlyMap<string, Frame>,
  bodies: Bodies,
  except?: ReadonlySet<string>,
): string | null {
  const takes = (frame: Frame) =>
    (point !== null && within(point, frame)) || shared(frame, box) >= Math.max(1, (box.width * box.height) / 2);
  const found = bodies.loops.find((loop) => {
    const frame = frames.get(loop);
    return frame !== undefined && !except?.has(loop) && takes(frame);
  });
  return found ?? null;
}

/** The frame that a dragged node is over; a loop is never over its own. */
export function frameUnderNode(node: FlowNode, point: Point | null, frames: ReadonlyMap<string, Frame>, bodies: Bodies): string | null {
  const own = new Set([node.id, ...descendantsOf(bodies, node.id)]);
  return frameForBox({ ...node.position, ...sizeOf(node) }, point, frames, bodies, own);
}

/** Dragged nodes that could change their loop: those that are not carried along by one. */
export function draggedRoots(dragged: readonly FlowNode[], bodies: Bodies): FlowNode[] {
  const ids = new Set(dragged.map(({ id }) => id));
  return dragged.filter(({ id, type }) => !definitionOf(type ?? "")?.isInert && !loopsAround(bodies, id).some((loop) => ids.has(loop)));
}

/** The dragged node that decides where all of them go: the one taken hold of, else the nearest to the pointer. */
export function grabbedNode(dragged: readonly FlowNode[], bodies: Bodies, { nodeId, point }: PointerGrab): FlowNode | undefined {
  const loose = draggedRoots(dragged, bodies);
  const held = nodeId === null ? undefined : loose.find(({ id }) => id === nodeId || loopsAround(bodies, nodeId).includes(id));
  if (held || !point) return held ?? loose[0];
  const away = (node: FlowNode) => {
    const { width, height } = sizeOf(node);
    return Math.hypot(node.position.x + width / 2 - point.x, node.position.y + height / 2 - point.y);
  };
  return loose.reduce<FlowNode | undefined>((best, node) => (best && away(best) <= away(node) ? best : node), undefined);
}

/** What is dragged together changes its loop together: all of it that does not stand in `loop` yet. */
export const nodesChangingLoop = (loop: string | null, dragged: readonly FlowNode[], bodies: Bodies): string[] =>
  draggedRoots(dragged, bodies).flatMap(({ id }) => ((bodies.owner[id] ?? null) === loop ? [] : [id]));

/** The frame that a node would be taken out of on its way into `loop`, or into none. */
export function frameBeingLeft(nodeId: string, loop: string | null, bodies: Bodies): string | null {
  const owner = bodies.owner[nodeId] ?? null;
  if (owner === null || owner === loop) return null;
  return loop !== null && loopsAround(bodies, loop).includes(owner) ? null : owner;
}
