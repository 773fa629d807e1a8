// What two texts have not in common, word by word. Pure.

export interface TextPart {
  kind: "same" | "removed" | "added";
  text: string;
}

/** More pairs of words than this are not compared one by one: what differs then is one piece on each side. */
const MOST_PAIRS = 1_000_000;

const wordsOf = (text: string): string[] => text.match(/\p{L}[\p{L}\p{M}\p{N}]*|\p{N}+|\s+|./gsu) ?? [];

/** Lengths of what both have in common from each place on, row by row. */
function commonLengths(a: readonly string[], b: readonly string[]): Uint32Array[] {
  const rows = Array.from({ length: a.length + 1 }, () => new Uint32Array(b.length + 1));
  for (let i = a.length - 1; i >= 0; i--) {
    const [row, below] = [rows[i], rows[i + 1]];
    if (!row || !below) continue;
    for (let j = b.length - 1; j >= 0; j--) row[j] = a[i] === b[j] ? (below[j + 1] ?? 0) + 1 : Math.max(below[j] ?? 0, row[j + 1] ?? 0);
  }
  return rows;
}

function middle(a: readonly string[], b: readonly string[]): TextPart[] {
  if (a.length * b.length > MOST_PAIRS)
    return [
      { kind: "removed", text: a.join("") },
      { kind: "added", text: b.join("") },
    ];
  const lengths = commonLengths(a, b);
  const parts: TextPart[] = [];
  let [i, j] = [0, 0];
  while (i < a.length || j < b.length) {
    if (i < a.length && a[i] === b[j]) {
      parts.push({ kind: "same", text: a[i] ?? "" });
      i += 1;
      j += 1;
    } else if (i < a.length && (j === b.length || (lengths[i + 1]?.[j] ?? 0) >= (lengths[i]?.[j + 1] ?? 0)))
      parts.push({ kind: "removed", text: a[i++] ?? "" });
    else parts.push({ kind: "added", text: b[j++] ?? "" });
  }
  return parts;
}

/** The texts as one: what both have, what only `a` has and what only `b` has, in order. */
export function diffTexts(a: string, b: string): TextPart[] {
  const [left, right] = [wordsOf(a), wordsOf(b)];
  const most = Math.min(left.length, right.length);
  let start = 0;
  while (start < most && left[start] === right[start]) start++;
  let end = 0;
  while (end < most - start && left[left.length - 1 - end] === right[right.length - 1 - end]) end++;
  const parts: TextPart[] = [
    { kind: "same", text: left.slice(0, start).join("") },
    ...middle(left.slice(start, left.length - end), right.slice(start, right.length - end)),
    { kind: "same", text: left.slice(left.length - end).join("") },
  ];
  const joined: TextPart[] = [];
  for (const part of parts) {
    const last = joined.at(-1);
    if (part.text === "") continue;
    if (last?.kind === part.kind) last.text += part.text;
    else joined.push({ ...part });
  }
  return joined;
}
