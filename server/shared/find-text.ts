import { foldAccents } from "#server/shared/fold-text.ts";

/** Returns the first occurrence of a query in a text, as a range of the text as it is written. */
export function findText(text: string, query: string): { start: number; end: number } | null {
  const wanted = foldAccents(query);
  if (wanted === "" || !foldAccents(text).includes(wanted)) return null;

  let folded = "";
  const starts: number[] = [];
  for (const { segment, index } of new Intl.Segmenter().segment(text)) {
    const part = foldAccents(segment);
    folded += part;
    for (let count = 0; count < part.length; count++) starts.push(index);
  }

  const at = Math.max(0, folded.indexOf(wanted));
  return { start: starts[at] ?? 0, end: starts[at + wanted.length] ?? text.length };
}
