import { diffArrays } from "diff";

/** A piece of a text that was changed into another. */
export interface TextPart {
  kind: "same" | "removed" | "added";
  text: string;
}
/** `cut`: so many lines that both have, left out. */
export type DiffPiece = TextPart | { kind: "cut"; lines: number };

/** Removals and additions up to which two lists are compared item by item; lists that differ in more differ as a whole. */
const MAX_EDITS = 400;
/** Lines that stay in view on either side of what differs. */
const NEAR = 2;

interface Run {
  kind: TextPart["kind"];
  items: string[];
}

/** Splits lists that differ in too much: what both begin and end with is the same, the rest is another. */
function replaceMiddle(before: readonly string[], after: readonly string[]): Run[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;

  const runs: Run[] = [
    { kind: "same", items: before.slice(0, start) },
    { kind: "removed", items: before.slice(start, before.length - end) },
    { kind: "added", items: after.slice(start, after.length - end) },
    { kind: "same", items: before.slice(before.length - end) },
  ];
  return runs.filter(({ items }) => items.length > 0);
}

/** Returns the removals and additions that turn `before` into `after`, removals first. */
function diffLists(before: readonly string[], after: readonly string[]): Run[] {
  const changes = diffArrays([...before], [...after], { maxEditLength: MAX_EDITS });
  if (!changes) return replaceMiddle(before, after);
  return changes.map(({ removed, added, value }) => ({ kind: removed ? "removed" : added ? "added" : "same", items: value }));
}

const linesOf = (text: string): string[] => text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
const wordsOf = (text: string): string[] => text.match(/\s+|[\p{L}\p{M}\p{N}_]+|[^\s\p{L}\p{M}\p{N}_]/gu) ?? [];

/** What of lines that took the place of others is another: by words, where they have enough in common to be read that way. */
function diffWords(removed: string, added: string): TextPart[] {
  const runs = diffLists(wordsOf(removed), wordsOf(added));
  const shared = runs
    .flatMap(({ kind, items }) => (kind === "same" ? items : []))
    .join("")
    .trim().length;
  if (shared * 3 < Math.max(removed.trim().length, added.trim().length))
    return [
      { kind: "removed", text: removed },
      { kind: "added", text: added },
    ];
  return runs.map(({ kind, items }) => ({ kind, text: items.join("") }));
}

/** What of a longer text that stays is shown: some lines beside each change. */
function shortened(lines: string[], isFirst: boolean, isLast: boolean): DiffPiece[] {
  const [head, tail] = [isFirst ? 0 : NEAR, isLast ? 0 : NEAR];
  const hidden = lines.length - head - tail;
  if (hidden < 2) return [{ kind: "same", text: lines.join("") }];
  const same = (text: string): DiffPiece[] => (text === "" ? [] : [{ kind: "same", text }]);
  return [...same(lines.slice(0, head).join("")), { kind: "cut", lines: hidden }, ...same(lines.slice(lines.length - tail).join(""))];
}

/** Line by line, and within lines word by word; `same` says what is shown of lines that stay. */
function pieces<Piece extends DiffPiece>(
  before: string,
  after: string,
  same: (lines: string[], isFirst: boolean, isLast: boolean) => Piece[],
): (Piece | TextPart)[] {
  const runs = diffLists(linesOf(before), linesOf(after));
  return runs.flatMap(({ kind, items }, index): (Piece | TextPart)[] => {
    if (kind === "same") return same(items, index === 0, index === runs.length - 1);
    const text = items.join("");
    const next = runs[index + 1];
    if (kind === "removed" && next?.kind === "added") return diffWords(text, next.items.join(""));
    if (kind === "added" && runs[index - 1]?.kind === "removed") return [];
    return [{ kind, text }];
  });
}

/** How a longer text was changed. Lines far from any change are left out. */
export const diffTexts = (before: string, after: string): DiffPiece[] => pieces(before, after, shortened);

/** The same with every line: what is not added is the one text, what is not removed the other. */
export const wholeDiff = (before: string, after: string): TextPart[] =>
  pieces(before, after, (lines) => [{ kind: "same", text: lines.join("") }]);
