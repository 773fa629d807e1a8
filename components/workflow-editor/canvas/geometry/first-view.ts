import { definitionOf } from "#server/workflow/graph.ts";

// What one sees of a workflow at first, and how much of it one does not.

/** In canvas units, or in pixels of the view. */
export interface Box {
  left: number;
  top: number;
  right: number;
  bottom: number;
}

interface Size {
  width: number;
  height: number;
}

/** Below this zoom what stands on a card would be drawn smaller than nine pixels: cards show their name alone. */
export const READABLE_ZOOM = 0.65;
/** A workflow that does not fit at that is read at this zoom, from its beginning. */
const READING_ZOOM = 0.75;
/** Share of the view that stays empty around what is fitted. */
const PADDING = 0.15;
const MARGIN = 48;
/** What the view keeps free at its lower edge, for the bar over it. */
const BAR = 72;
/** What stands left of the trigger belongs to the beginning as long as it takes no more than this share of the view. */
const BEFORE = 0.3;

const around = (boxes: readonly Box[]): Box => ({
  left: Math.min(...boxes.map(({ left }) => left)),
  top: Math.min(...boxes.map(({ top }) => top)),
  right: Math.max(...boxes.map(({ right }) => right)),
  bottom: Math.max(...boxes.map(({ bottom }) => bottom)),
});

/**
 * Where the view begins when the whole does not fit into it at a size that can be read: at the trigger, at its left.
 * @param least the smallest zoom at which the whole is shown
 * @returns null where the whole fits
 */
export function beginningOf(boxes: readonly (Box & { type: string })[], view: Size, least = READABLE_ZOOM) {
  if (boxes.length === 0) return null;
  const whole = around(boxes);
  const [width, height] = [whole.right - whole.left, whole.bottom - whole.top];
  if (Math.min(view.width / width, view.height / height) / (1 + PADDING) >= least) return null;
  const zoom = Math.max(least, Math.min(READING_ZOOM, (view.width - 2 * MARGIN) / 250));
  const start = boxes.find(({ type }) => definitionOf(type)?.group === "trigger") ?? whole;
  const left = (start.left - whole.left) * zoom <= view.width * BEFORE ? whole.left : start.left;
  const room = view.height - MARGIN - BAR;
  // All of its height, in the middle; else the trigger a little above it, and nothing empty above or below the whole.
  const middle = MARGIN + (room - height * zoom) / 2 - whole.top * zoom;
  const wanted = MARGIN + room * 0.4 - ((start.top + start.bottom) / 2) * zoom;
  const y = height * zoom <= room ? middle : Math.min(MARGIN - whole.top * zoom, Math.max(view.height - BAR - whole.bottom * zoom, wanted));
  return { x: MARGIN - left * zoom, y, zoom };
}

export type Side = "left" | "right" | "above" | "below";

/** The side on which something goes on out of view, onward before back, and how much; null when a part of everything is seen. */
export function outOfView(boxes: readonly Box[], { width, height }: Size): { side: Side; count: number } | null {
  const counts: Record<Side, number> = { right: 0, below: 0, left: 0, above: 0 };
  for (const box of boxes) {
    if (box.left >= width) counts.right++;
    else if (box.right <= 0) counts.left++;
    else if (box.top >= height) counts.below++;
    else if (box.bottom <= 0) counts.above++;
  }
  const side = (Object.keys(counts) as Side[]).find((one) => counts[one] > 0);
  return side ? { side, count: counts[side] } : null;
}

/**
 * How far the view must move so that what comes next on a side lies at its beginning, with what follows after it.
 * @param boxes everything, as the view shows it; what is cut off by its edge comes next too
 */
export function moveTowards(side: Side, boxes: readonly Box[], { width, height }: Size): { x: number; y: number } {
  const ahead: Record<Side, (box: Box) => number | null> = {
    right: ({ left, right }) => (right > width && left > MARGIN ? left : null),
    left: ({ left, right }) => (left < 0 && right < width - MARGIN ? -right : null),
    below: ({ top, bottom }) => (bottom > height - BAR && top > MARGIN ? top : null),
    above: ({ top, bottom }) => (top < 0 && bottom < height - BAR ? -bottom : null),
  };
  let next: { box: Box; far: number } | null = null;
  for (const box of boxes) {
    const far = ahead[side](box);
    if (far !== null && (next === null || far < next.far)) next = { box, far };
  }
  if (next === null) return { x: 0, y: 0 };
  const { left, top, right, bottom } = next.box;
  const into = (from: number, to: number, low: number, high: number) =>
    from < low ? low - from : to > high ? Math.max(low - from, high - to) : 0;
  const across = { x: into(left, right, MARGIN, width - MARGIN), y: into(top, bottom, MARGIN, height - BAR) };
  switch (side) {
    case "right":
      return { x: MARGIN - left, y: across.y };
    case "left":
      return { x: width - MARGIN - right, y: across.y };
    case "below":
      return { x: across.x, y: MARGIN - top };
    case "above":
      return { x: across.x, y: height - BAR - bottom };
  }
}
