import type { OutlineItem } from "#components/workflow-editor/outline/outline-tree.ts";
import { foldAccents } from "#server/shared/fold-text.ts";

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
export function rowsOf(items: readonly OutlineItem[], closed: ReadonlySet<string>): OutlineRow[] {
  const rows: OutlineRow[] = [];
  // Walked, not called: branches within branches would not fit on the stack.
  const open = [{ items, at: 0, parent: null as string | null }];
  for (let list = open.at(-1); list; list = open.at(-1)) {
    const item = list.items[list.at++];
    if (!item) {
      open.pop();
      continue;
    }
    const children = childrenOf(item);
    const isOpen = children.length === 0 ? null : !closed.has(item.key);
    rows.push({ item, level: open.length, position: list.at, size: list.items.length, isOpen, parent: list.parent });
    if (isOpen) open.push({ items: children, at: 0, parent: item.key });
  }
  return rows;
}

/** Keys of what an item stands in, the outermost first; null when it is not in the outline. */
export function pathTo(items: readonly OutlineItem[], key: string): string[] | null {
  const rows = rowsOf(items, new Set());
  const byKey = new Map(rows.map((row) => [row.item.key, row]));
  const path: string[] = [];
  for (let outer = byKey.get(key)?.parent; outer; outer = byKey.get(outer)?.parent) path.push(outer);
  return byKey.has(key) ? path.reverse() : null;
}

/**
 * Place of the next line whose name begins with what was typed, from `from` on and round; -1 for none. The same letter again
 * goes on to the next.
 */
export function typeAhead(names: readonly string[], from: number, typed: string): number {
  const wanted = foldAccents(typed);
  const isRepeat = wanted.length > 1 && [...wanted].every((letter) => letter === wanted[0]);
  const text = isRepeat ? (wanted[0] ?? "") : wanted;
  const start = isRepeat || wanted.length === 1 ? from + 1 : from;
  for (let step = 0; step < names.length; step++) {
    const index = (start + step) % names.length;
    if (foldAccents(names[index] ?? "").startsWith(text)) return index;
  }
  return -1;
}
