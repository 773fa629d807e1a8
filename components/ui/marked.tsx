import { Fragment } from "react";

/** A text with what was searched for marked in it: each of its words, in either case. */
export function Marked({ text, q }: { text: string; q: string }) {
  const words = q.split(/\s+/).filter(Boolean);
  if (words.length === 0) return text;
  // The longest first, so that one that begins like another is marked whole.
  const wanted = words.sort((a, b) => b.length - a.length).map((word) => word.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"));
  const parts = text.split(new RegExp(`(${wanted.join("|")})`, "gi"));
  return parts.map((part, index) =>
    index % 2 === 1 ? (
      <mark key={`${index.toString()} ${part}`} className="rounded-xs bg-thread-soft font-semibold text-inherit">
        {part}
      </mark>
    ) : (
      <Fragment key={`${index.toString()} ${part}`}>{part}</Fragment>
    ),
  );
}
