import type { OutlineItem } from "#components/editor/outline-tree.ts";

/** One line of the outline that can be seen. */
export interface OutlineRow {
  item: OutlineItem;
  /** From 1. */
  level: number;
  /** From 1, among its siblings. */
  position: number;
  size: number;
  /** Whether its children are shown; null when it has none. */
  isOpen: boolean | null;
  parent: string | null;
}

const childrenOf = (item: OutlineItem): readonly OutlineItem[] => (item.kind === "link" ? [] : item.children);

/** The outline as lines, without what closed ones hold. */
export function rowsOf(items: readonly OutlineItem[], closed: ReadonlySet<string>, level = 1, parent: string | null = null): OutlineRow[] {
  return items.flatMap((item, index) => {
    const children = childrenOf(item);
    const isOpen = children.length === 0 ? null : !closed.has(item.key);
    const row = { item, level, position: index + 1, size: items.length, isOpen, parent };
    return isOpen ? [row, ...rowsOf(children, closed, level + 1, item.key)] : [row];
  });
}

/** Keys of what an item stands in, the outermost first; null when it is not in the outline. */
export function pathTo(items: readonly OutlineItem[], key: string): string[] | null {
  for (const item of items) {
    if (item.key === key) return [];
    const inner = pathTo(childrenOf(item), key);
    if (inner) return [item.key, ...inner];
  }
  return null;
}

/**
 * Place of the next line whose name begins with what was typed, from `from` on and round; -1 for none. The same letter again
 * goes on to the next.
 */
export function typeAhead(names: readonly string[], from: number, typed: string): number {
  const wanted = typed.toLowerCase();
  const isRepeat = wanted.length > 1 && [...wanted].every((letter) => letter === wanted[0]);
  const text = isRepeat ? (wanted[0] ?? "") : wanted;
  const start = isRepeat || wanted.length === 1 ? from + 1 : from;
  for (let step = 0; step < names.length; step++) {
    const index = (start + step) % names.length;
    if (names[index]?.toLowerCase().startsWith(text)) return index;
  }
  return -1;
}
