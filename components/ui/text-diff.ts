/** Most characters that two long texts keep in common around what differs. */
const CONTEXT = 24;

export interface TextParts {
  head: string;
  before: string;
  after: string;
  tail: string;
}

/** Two texts cut into what they begin and end with alike, shortened, and what differs between. */
export function splitAtChange(before: string, after: string): TextParts {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  // Half a word in common says nothing.
  while (start > 0 && /\w/.test(before[start - 1] ?? "")) start--;
  while (end > 0 && /\w/.test(before.at(-end) ?? "")) end--;
  const head = before.slice(0, start);
  const tail = end > 0 ? before.slice(-end) : "";
  return {
    head: head.length > CONTEXT ? `…${head.slice(-CONTEXT)}` : head,
    before: before.slice(start, before.length - end),
    after: after.slice(start, after.length - end),
    tail: tail.length > CONTEXT ? `${tail.slice(0, CONTEXT)}…` : tail,
  };
}

/** A piece of a text that was changed into another. */
export interface TextPart {
  kind: "same" | "removed" | "added";
  text: string;
}
/** `cut`: so many lines that both have, left out. */
export type DiffPiece = TextPart | { kind: "cut"; lines: number };

/** Two lists are compared item by item up to so many pairs; longer ones differ as a whole. */
const MOST_PAIRS = 1_000_000;
/** Lines that stay in view on either side of what differs. */
const NEAR = 2;

interface Run {
  kind: TextPart["kind"];
  items: string[];
}

function push(runs: Run[], kind: Run["kind"], items: string[]): void {
  if (items.length === 0) return;
  const last = runs.at(-1);
  if (last?.kind === kind) last.items.push(...items);
  else runs.push({ kind, items: [...items] });
}

/** The fewest removals and additions that make `after` of `before`, removals first where both stand in one place. */
function diffLists(before: readonly string[], after: readonly string[]): Run[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start++;
  let end = 0;
  while (end < most - start && before.at(-1 - end) === after.at(-1 - end)) end++;
  const [old, now] = [before.slice(start, before.length - end), after.slice(start, after.length - end)];
  const runs: Run[] = [];
  push(runs, "same", before.slice(0, start));
  if (old.length * now.length > MOST_PAIRS) {
    push(runs, "removed", old);
    push(runs, "added", now);
  } else {
    const width = now.length + 1;
    // How long the longest common list of both rests is, from each pair of places on.
    const common = new Uint32Array((old.length + 1) * width);
    const at = (i: number, j: number) => common[i * width + j] ?? 0;
    for (let i = old.length - 1; i >= 0; i--)
      for (let j = now.length - 1; j >= 0; j--)
        common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    let [i, j] = [0, 0];
    while (i < old.length || j < now.length) {
      if (i < old.length && j < now.length && old[i] === now[j]) {
        push(runs, "same", [old[i] ?? ""]);
        i++;
        j++;
      } else if (i < old.length && (j >= now.length || at(i + 1, j) >= at(i, j + 1))) push(runs, "removed", [old[i++] ?? ""]);
      else push(runs, "added", [now[j++] ?? ""]);
    }
  }
  push(runs, "same", end > 0 ? before.slice(-end) : []);
  return runs;
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
