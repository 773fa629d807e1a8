import { Prisma } from "#prisma/generated/client.ts";
import { foldAccents, foldText } from "#server/shared/fold-text.ts";

// Search fields: each word of the search, in any order, anywhere in the searched text, in either case, with or without accents.

const MAX_WORDS = 8;

/** Returns the distinct words of a search; those after the eighth are left out. */
export const wordsOf = (q: string | undefined): string[] => [...new Set(q?.split(/\s+/).filter(Boolean))].slice(0, MAX_WORDS);

/** Escapes a text for LIKE. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

type Fold = (text: string) => string;

/** Latin, Greek, Cyrillic and apostrophes: characters of which several fold to one. */
const FOLDED_RANGES = [
  [0x27, 0x52f],
  [0x1e00, 0x1fff],
  [0x2018, 0x2032],
] as const;

/** Characters by what they fold to, of one or two letters. */
function spellingsBy(fold: Fold): ReadonlyMap<string, string> {
  const spellings = new Map<string, string>();
  for (const [first, last] of FOLDED_RANGES)
    for (let code = first; code <= last; code++) {
      const character = String.fromCharCode(code);
      const folded = fold(character);
      if (character.normalize("NFKC") === character && /^\S{1,2}$/.test(folded))
        spellings.set(folded, (spellings.get(folded) ?? "") + character);
    }
  return spellings;
}

const SPELLINGS = new Map([foldText, foldAccents].map((fold) => [fold, spellingsBy(fold)]));
const IGNORABLE = "[\\u00ad\\u034f\\u200b-\\u200f\\u2060-\\u2064\\ufe00-\\ufe0f\\ufeff]*";
const WITH_MARKS = IGNORABLE.replace("[", "[\\u0300-\\u036f");

const oneOf = (characters: string): string => `[${[...characters].map((character) => character.replace(/[\\\]^[-]/g, "\\$&")).join("")}]`;

/**
 * Returns a regular expression of PostgreSQL for texts in NFKC that contain a word.
 * @param fold what a spelling and the word have in common
 */
function patternOf(word: string, fold: Fold): string {
  const spellings = SPELLINGS.get(fold);
  const between = fold === foldAccents ? WITH_MARKS : IGNORABLE;
  const characters = [...fold(word)];
  const one = (character: string) =>
    oneOf(spellings?.get(character) ?? [...new Set([character, character.toUpperCase()])].join("")) + between;
  let pattern = "";
  for (let at = 0; at < characters.length; at++) {
    const [first = "", second] = characters.slice(at);
    const ligature = second === undefined ? undefined : spellings?.get(first + second);
    if (second === undefined || ligature === undefined) pattern += one(first);
    else {
      pattern += `(?:${one(first)}${one(second)}|${oneOf(ligature)}${between})`;
      at += 1;
    }
  }
  return pattern;
}

/** A character that NFKC may change. Normalizing every text would take ten times as long as the search. */
const UNUSUAL =
  "[^\\x01-\\x9f\\u00c0-\\u0131\\u0134-\\u013e\\u0141-\\u0148\\u014a-\\u017e\\u0180-\\u01c3\\u0370-\\u052f\\u2010-\\u201f\\u3041-\\u3098\\u30a1-\\u30fe\\u4e00-\\u9fff\\uac00-\\ud7a3]";

const matches = (text: Prisma.Sql, pattern: string): Prisma.Sql =>
  Prisma.sql`(${text} ~ ${pattern} OR (${text} ~ ${UNUSUAL} AND normalize(${text}, NFKC) ~ ${pattern}))`;

/** Returns regular expressions of PostgreSQL that a text in NFKC matches when it has each word of a search. */
export const wordPatterns = (q: string | undefined, fold: Fold = foldAccents): string[] =>
  wordsOf(q)
    .map((word) => patternOf(word, fold))
    .filter(Boolean);

function hasWordsBy(fold: Fold, q: string | undefined, text: Prisma.Sql): Prisma.Sql {
  const each = wordPatterns(q, fold).map((pattern) => matches(text, pattern));
  return each.length ? Prisma.join(each, " AND ") : Prisma.sql`true`;
}

/** Condition of SQL: a text has each word of a search, with or without accents. */
export const hasWords = (q: string | undefined, text: Prisma.Sql): Prisma.Sql => hasWordsBy(foldAccents, q, text);

/** The same with the accents of the search. */
export const hasExactWords = (q: string | undefined, text: Prisma.Sql): Prisma.Sql => hasWordsBy(foldText, q, text);

/** Condition of SQL: a text begins with a search, with or without accents. */
export const beginsWith = (q: string, text: Prisma.Sql): Prisma.Sql => matches(text, `^${patternOf(q, foldAccents)}`);
