import { searchWords, UNSPACED } from "#server/shared/search-text.ts";

// Where in a run's texts stands what was searched for.

/** How much of a text stands before the first word that was found, in characters. */
const BEFORE = 40;
/** Of a longer text no more is looked at: lists show the beginning. */
const MOST = 2000;

/** Accents and invisible characters, which a search leaves out. */
const BETWEEN = "[\\p{M}\\p{DI}]*";

/** Texts in NFD hold accents apart from their letters, and look the same. */
const shownForm = (text: string): string => text.slice(0, MOST).normalize("NFD");

const patternOf = (word: string): string =>
  [...word.normalize("NFD")].map((character) => (character === "i" ? "[iı]" : character) + BETWEEN).join("");

/** Finds beginnings of words in NFD, with or without accents; of a script without spaces anywhere. */
export function finderOf(q: string): RegExp | null {
  const words = searchWords(q, 12);
  return words.length
    ? new RegExp(
        `(?<![\\p{L}\\p{M}\\p{N}])(?:${words.map(patternOf).join("|")})|${
          words
            .filter((word) => UNSPACED.test(word))
            .map(patternOf)
            .join("|") || "(?!)"
        }`,
        "giu",
      )
    : null;
}
/** The first of these texts in which something was found, from a little before that on. */
export function excerptOf(texts: readonly (string | null)[], finder: RegExp): string | null {
  for (const text of texts) {
    const shown = shownForm(text ?? "");
    const at = shown.search(finder);
    if (at >= 0) return at > BEFORE ? `…${shown.slice(at - BEFORE)}` : shown;
  }
  return null;
}
