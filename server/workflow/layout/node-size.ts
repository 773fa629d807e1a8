/** Width of every card, in canvas units. */
export const CARD_WIDTH = 250;
/** From the beginning of a card to that of the next one, with the free space between them. */
export const NEXT_NODE_DISTANCE = 330;
/** Distance between what follows two ways out of a node. */
export const WAY_DISTANCE = 150;
const GUESSED_HEIGHT = 120;

interface Measured {
  measured?: { width?: number | undefined; height?: number | undefined } | undefined;
}

/** How large a node is drawn; a guess before it was. */
export const sizeOf = ({ measured }: Measured): { width: number; height: number } => ({
  width: measured?.width ?? CARD_WIDTH,
  height: measured?.height ?? GUESSED_HEIGHT,
});

/** Where a node is on the canvas's part of the screen, in pixels from its corner. @param view the shift and zoom of the canvas */
export function boxOnScreen(
  node: Measured,
  position: { x: number; y: number },
  [x, y, zoom]: readonly [number, number, number],
): { left: number; top: number; right: number; bottom: number } {
  const { width, height } = sizeOf(node);
  const [left, top] = [position.x * zoom + x, position.y * zoom + y];
  return { left, top, right: left + width * zoom, bottom: top + height * zoom };
}

/** How small and how large a note can be made (canvas units), and how large it is before. */
export const NOTE_SIZE = { width: 320, minWidth: 160, minHeight: 60, maxWidth: 1200, maxHeight: 1200 } as const;
