/** A character of a script that is written without blanks: a whole run of them would count as one word. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_RUN = new RegExp(`${UNSPACED.source}+`, "gu");

/**
 * The text as it is put into an index of words and into queries: in small letters, which PostgreSQL under the locale C makes of
 * ASCII only, and runs of a script without blanks as overlapping pairs of characters.
 */
export const searchText = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(UNSPACED_RUN, (run) => {
      const characters = [...run];
      if (characters.length < 2) return ` ${run} `;
      return ` ${characters
        .slice(1)
        .map((character, index) => `${characters[index]}${character}`)
        .join(" ")} `;
    });

/** Of a longer word only its beginning is looked at, in characters. */
const LONGEST_WORD = 40;

/**
 * The words of a text as `searchText` writes them, each once, in the order in which they come.
 * @param most how many at most
 */
export function searchWords(text: string, most: number): string[] {
  const words = new Set<string>();
  for (const [word] of searchText(text).matchAll(/[\p{L}\p{M}\p{N}]+/gu)) {
    words.add(word.slice(0, LONGEST_WORD).replace(/[\ud800-\udbff]$/, ""));
    if (words.size >= most) break;
  }
  return [...words];
}

/** A word as a `tsquery` of PostgreSQL: just it, or every word that begins so. */
export const lexemeQuery = (word: string, isBeginning = false): string => `'${word.replace(/['\\]/g, "$&$&")}'${isBeginning ? ":*" : ""}`;
