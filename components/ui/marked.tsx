import type { ReactNode } from "react";

/** Finds each word of a search anywhere, in either case; null for a search without a word. */
function wordFinder(q: string): RegExp | null {
  const words = q.split(/\s+/).filter(Boolean);
  // The longest first, so that one that begins like another is marked whole.
  const wanted = words.sort((a, b) => b.length - a.length).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  return wanted.length ? new RegExp(wanted.join("|"), "gi") : null;
}

/** A text with what was searched for marked in it: the words of `q`, or what a finder of one's own finds. */
export function Marked({ text, q = "", finder = wordFinder(q) }: { text: string; q?: string; finder?: RegExp | null }) {
  if (!finder) return text;
  const parts: ReactNode[] = [];
  let end = 0;
  for (const match of text.matchAll(finder)) {
    parts.push(
      text.slice(end, match.index),
      <mark key={match.index} className="rounded-xs bg-thread-soft font-semibold text-ink">
        {match[0]}
      </mark>,
    );
    end = match.index + match[0].length;
  }
  return parts.length ? [...parts, text.slice(end)] : text;
}
