import type { Frame } from "#components/workflow-editor/canvas/geometry/loop-frames.ts";

export type Box = Omit<Frame, "entry">;

/** A flow that is wider than so many columns is set out in rows of so many. Canvas units. */
const COLUMN = 330;
const WIDEST = 24 * COLUMN;
const ROW_WIDTH = 12 * COLUMN;
/** Free space between two rows. */
const ROW_GAP = 120;

/**
 * Breaks a very long flow into rows, so that it can be seen as a whole; boxes are moved in place. It breaks only where no
 * more than one line leads on, so that a row ends as a sentence does; a flow that is nowhere so narrow stays as it is.
 * @param lines pairs of boxes that an edge joins
 */
export function wrapRows(boxes: readonly Box[], lines: readonly (readonly [Box, Box])[]): void {
  const right = Math.max(...boxes.map((box) => box.x + box.width));
  if (right - Math.min(...boxes.map(({ x }) => x)) <= WIDEST) return;
  const order = [...boxes].sort((a, b) => a.x - b.x);
  const isBreak = (at: number) =>
    boxes.every((box) => box.x >= at || box.x + box.width < at) && lines.filter(([from, to]) => from.x < at && to.x >= at).length <= 1;
  const breaks = [...new Set(order.map(({ x }) => x))].filter(isBreak);
  const rows: Box[][] = [];
  for (let start = order[0]?.x; start !== undefined; ) {
    const from = start;
    const later = breaks.filter((at) => at > from);
    // The last that fits; where none does, the first after it.
    const end: number | undefined = right - from <= ROW_WIDTH ? undefined : (later.findLast((at) => at - from <= ROW_WIDTH) ?? later[0]);
    rows.push(order.filter(({ x }) => x >= from && (end === undefined || x < end)));
    start = end;
  }
  const left = order[0]?.x ?? 0;
  let top = Math.min(...boxes.map(({ y }) => y));
  for (const row of rows) {
    const [first, upper] = [Math.min(...row.map(({ x }) => x)), Math.min(...row.map(({ y }) => y))];
    const height = Math.max(...row.map((box) => box.y + box.height)) - upper;
    for (const box of row) {
      box.x += left - first;
      box.y += top - upper;
    }
    top += height + ROW_GAP;
  }
}
