import { searchWords, UNSPACED } from "#server/shared/search-text.ts";

// Where in a run's texts stands what was searched for.

/** How much of a text stands before the first word that was found, in characters. */
const BEFORE = 40;
/** Of a longer text no more is looked at: lists show the beginning. */
const MOST = 2000;

const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

/** Finds beginnings of words; of a script without blanks anywhere. */
export function finderOf(q: string): RegExp | null {
  const words = searchWords(q, 12);
  return words.length
    ? new RegExp(
        `(?<![\\p{L}\\p{N}])(?:${words.map(escaped).join("|")})|${
          words
            .filter((word) => UNSPACED.test(word))
            .map(escaped)
            .join("|") || "(?!)"
        }`,
        "giu",
      )
    : null;
}
/** The first of these texts in which something was found, from a little before that on. */
export function excerptOf(texts: readonly (string | null)[], finder: RegExp): string | null {
  for (const text of texts) {
    const at = text?.slice(0, MOST).search(finder) ?? -1;
    if (text && at >= 0) return at > BEFORE ? `…${text.slice(at - BEFORE, MOST)}` : text.slice(0, MOST);
  }
  return null;
}
