import { GRID_COLUMNS, type Widget } from "#server/features/canvases/schema.ts";

// Where widgets stand. A canvas is arranged as one would lay out cards: what is put somewhere stays there, and what was in the
// way changes places with it or moves down; nothing else moves. Rows without anything in them are closed.

export type Layout = Widget["layout"];
/** A widget as far as its place goes. */
export interface Placed {
  id: string;
  layout: Layout;
}

/** The smallest that shows something, in columns and rows. */
export const SMALLEST = { w: 2, h: 2 };
const MAX_HEIGHT = 100;
const MAX_Y = 10_000;

const overlap = (a: Layout, b: Layout): boolean => a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
const inReadingOrder = (a: Placed, b: Placed) => a.layout.y - b.layout.y || a.layout.x - b.layout.x;
const clamp = (value: number, least: number, most: number) => Math.min(Math.max(value, least), most);

/** A layout inside of the grid. */
export function inGrid({ x, y, w, h }: Layout): Layout {
  const width = clamp(w, 1, GRID_COLUMNS);
  return { x: clamp(x, 0, GRID_COLUMNS - width), y: clamp(y, 0, MAX_Y), w: width, h: clamp(h, 1, MAX_HEIGHT) };
}

/** The layout after a drag by so many columns and rows. */
export const moved = (layout: Layout, dx: number, dy: number): Layout => inGrid({ ...layout, x: layout.x + dx, y: layout.y + dy });

/** The layout after its lower right corner was dragged by so many columns and rows. */
export const resized = (layout: Layout, dx: number, dy: number): Layout => ({
  ...layout,
  w: clamp(layout.w + dx, Math.min(SMALLEST.w, layout.w), GRID_COLUMNS - layout.x),
  h: clamp(layout.h + dy, Math.min(SMALLEST.h, layout.h), MAX_HEIGHT),
});

/** Moves everything below rows that nothing stands in up. */
function closeGaps<Item extends Placed>(items: readonly Item[]): Item[] {
  const taken = new Set(items.flatMap(({ layout: { y, h } }) => Array.from({ length: h }, (_, row) => y + row)));
  const rows = [...taken].sort((a, b) => a - b);
  const rowOf = new Map(rows.map((row, index) => [row, index]));
  return items.map((item) => {
    const y = rowOf.get(item.layout.y) ?? item.layout.y;
    return y === item.layout.y ? item : { ...item, layout: { ...item.layout, y } };
  });
}

/**
 * The items with one of them at a new place, the others out of its way.
 * @returns in the order given; those that did not move are the same objects
 */
export function arrange<Item extends Placed>(items: readonly Item[], id: string, layout: Layout): Item[] {
  const before = items.find((item) => item.id === id);
  if (!before) return [...items];
  const held: Item = { ...before, layout: inGrid(layout) };
  const others = items.filter((item) => item !== before).sort(inReadingOrder);
  const placed: Item[] = [held];
  const isFree = (wanted: Layout, except: Item) =>
    [...placed, ...others.filter((other) => !placed.some(({ id: known }) => known === other.id))].every(
      (other) => other.id === except.id || !overlap(wanted, other.layout),
    );
  for (const item of others) {
    let { layout: own } = item;
    // Into the place that has just become free, where it fits; else down.
    const swapped = { ...own, x: before.layout.x, y: before.layout.y };
    if (overlap(own, held.layout) && swapped.x + swapped.w <= GRID_COLUMNS && isFree(swapped, item)) own = swapped;
    for (let other = inTheWay(own, placed); other; other = inTheWay(own, placed)) own = { ...own, y: other.y + other.h };
    placed.push(own === item.layout ? item : { ...item, layout: own });
  }
  const after = new Map(closeGaps(placed).map((item) => [item.id, item]));
  return items.map((item) => {
    const next = after.get(item.id) ?? item;
    return JSON.stringify(next.layout) === JSON.stringify(item.layout) ? item : next;
  });
}

const inTheWay = (layout: Layout, placed: readonly Placed[]): Layout | undefined =>
  placed.find((other) => overlap(layout, other.layout))?.layout;

/** The items without overlaps, those named first at their own places: after what somebody else changed was put beside it. */
export function settle<Item extends Placed>(items: readonly Item[]): Item[] {
  const placed: Item[] = [];
  for (const item of items.toSorted(inReadingOrder)) {
    let { layout } = item;
    for (let other = inTheWay(layout, placed); other; other = inTheWay(layout, placed)) layout = { ...layout, y: other.y + other.h };
    placed.push(layout === item.layout ? item : { ...item, layout });
  }
  const after = new Map(placed.map((item) => [item.id, item]));
  return items.map((item) => after.get(item.id) ?? item);
}

/** The items without one of them. */
export const without = <Item extends Placed>(items: readonly Item[], id: string): Item[] =>
  closeGaps(items.filter((item) => item.id !== id));

/** The first place from the top left with room for something of this size. */
export function freePlace(items: readonly Placed[], { w, h }: { w: number; h: number }): Layout {
  const bottom = Math.max(0, ...items.map(({ layout }) => layout.y + layout.h));
  for (let y = 0; y < bottom; y++)
    for (let x = 0; x + w <= GRID_COLUMNS; x++) {
      const layout = { x, y, w, h };
      if (!items.some((item) => overlap(layout, item.layout))) return layout;
    }
  return { x: 0, y: bottom, w, h };
}
