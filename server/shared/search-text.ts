import { foldAccents, foldText } from "#server/shared/fold-text.ts";

/** Version of the form in which texts are indexed. Rows of an earlier one are indexed again in the background. */
export const FOLDING = 1;

/** A character of a script without spaces, or of Korean, whose particles join the word: an index holds them in pairs. */
export const UNSPACED =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\u30fc\p{Script=Hangul}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;
const UNSPACED_RUN = new RegExp(`${UNSPACED.source}+`, "gu");
/** Marks beyond ASCII, which PostgreSQL under the locale C takes for letters. */
const SIGNS = /[^\p{L}\p{M}\p{N}\p{ASCII}]/gu;
const WORDS = /[\p{L}\p{M}\p{N}]+/gu;

function inPairs(run: string): string {
  const characters = [...run];
  if (characters.length < 2) return ` ${run} `;
  const pairs = characters.slice(1).map((character, index) => `${characters[index]}${character}`);
  return ` ${pairs.join(" ")} `;
}

/** Returns a text in the form in which it is indexed and looked up by words. */
export const searchText = (text: string): string => foldText(text).replace(SIGNS, " ").replace(UNSPACED_RUN, inPairs);

/** Returns the words of a `searchText` that have accents, without them. */
export function accentFreeText(text: string): string {
  const words = (text.match(WORDS) ?? []).filter((word) => /\P{ASCII}/u.test(word));
  return words
    .map((word) => [word, foldAccents(word)])
    .flatMap(([word, plain]) => (plain === word ? [] : [plain]))
    .join(" ");
}

/** Longer words are truncated, in characters. */
const LONGEST_WORD = 40;

function distinctWords(text: string, limit: number): string[] {
  const words = new Set<string>();
  for (const [word] of text.matchAll(WORDS)) {
    words.add(word.slice(0, LONGEST_WORD).replace(/[\ud800-\udbff]$/, ""));
    if (words.size >= limit) break;
  }
  return [...words];
}

/** Returns the distinct words of a text, without accents, in order. */
export const searchWords = (text: string, limit: number): string[] => distinctWords(foldAccents(searchText(text)), limit);

const EARLIER_RUN =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/** Returns a text in the form of releases before FOLDING 1, in which older rows are still indexed. */
export const earlierSearchText = (text: string): string => text.normalize("NFKC").toLowerCase().replace(EARLIER_RUN, inPairs);

/** Returns the words of a text in the form of releases before FOLDING 1. */
export const earlierSearchWords = (text: string, limit: number): string[] => distinctWords(earlierSearchText(text), limit);

/** A word as a `tsquery` of PostgreSQL: just it, or every word that begins so. */
export const lexemeQuery = (word: string, isBeginning = false): string => `'${word.replace(/['\\]/g, "$&$&")}'${isBeginning ? ":*" : ""}`;

const allOf = (words: readonly string[]): string => words.map((word) => lexemeQuery(word, true)).join(" & ");

/** Returns a `tsquery` for all of these words, by their beginnings, in rows of either form. */
export function wordsQuery(words: readonly string[], earlier: readonly string[]): string {
  const queries = [...new Set([words, earlier].filter((list) => list.length).map(allOf))];
  return queries.map((query) => `(${query})`).join(" | ");
}
