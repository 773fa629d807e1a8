import type { FlowNode } from "#components/canvas/flow-mapping.ts";

/** Width of every card, in canvas units. */
export const CARD_WIDTH = 250;
const GUESSED_HEIGHT = 120;

/** How large a node is drawn; a guess before it was. */
export const sizeOf = (node: FlowNode): { width: number; height: number } => ({
  width: node.measured?.width ?? CARD_WIDTH,
  height: node.measured?.height ?? GUESSED_HEIGHT,
});

/** How small and how large a note can be made (canvas units), and how large it is before. */
export const NOTE_SIZE = { width: 320, minWidth: 160, minHeight: 60, maxWidth: 1200, maxHeight: 1200 } as const;
