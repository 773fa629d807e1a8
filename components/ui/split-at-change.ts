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
