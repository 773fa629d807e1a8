import type { NodeChange } from "@xyflow/react";
import type { FlowNode } from "#components/workflow-editor/canvas/document/flow-document.ts";

/** What React Flow tells of nodes that are moved or resized, as an edit of the document. */
export interface LiveEdit {
  /** What is done, for undo; `named` says what a node is called. */
  name(named: (nodeId: string) => string): string;
  /** Whether the pointer still holds them: all until it lets go is one step of undo. */
  isHeld: boolean;
  /** Only the letting go: nothing changes with it. */
  isEnd: boolean;
  /** The burst that this belongs to, of moves by arrow keys. */
  key: string | undefined;
}

/** True for a size that somebody gives a node by dragging its corner; other dimensions are only measured. */
export const isResize = (change: NodeChange<FlowNode>): boolean => change.type === "dimensions" && change.setAttributes !== undefined;

/** The edit in these changes; null when they only select, or tell what was measured. */
export function liveEdit(changes: readonly NodeChange<FlowNode>[]): LiveEdit | null {
  const moves = changes.flatMap((change) => (change.type === "position" && change.position ? [change] : []));
  const sizes = changes.flatMap((change) => (change.type === "dimensions" && change.resizing !== undefined ? [change] : []));
  const [first] = sizes.length ? sizes : moves;
  if (!first) return null;
  const isHeld = sizes.some((change) => change.resizing) || moves.some((change) => change.dragging);
  return {
    name: (named) =>
      sizes.length ? `resize ${named(first.id)}` : `move ${moves.length === 1 ? named(first.id) : `${moves.length} nodes`}`,
    isHeld,
    isEnd: sizes.length > 0 && !isHeld,
    key: isHeld || sizes.length ? undefined : `keys ${moves.map(({ id }) => id).join(" ")}`,
  };
}

/** Whole numbers instead of what the pointer and the zoom make of a size. */
export const rounded = (change: NodeChange<FlowNode>): NodeChange<FlowNode> =>
  change.type === "dimensions" && change.dimensions && isResize(change)
    ? { ...change, dimensions: { width: Math.round(change.dimensions.width), height: Math.round(change.dimensions.height) } }
    : change;
