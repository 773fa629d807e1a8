import { Prisma } from "#prisma/generated/client.ts";

// What a search field asks for: each of its words, in any order, anywhere in what is searched, in either case.

const MOST_WORDS = 8;

/** The words of a search, each once; what comes after the eighth is not looked at. */
export const wordsOf = (q: string | undefined): string[] => [...new Set(q?.split(/\s+/).filter(Boolean))].slice(0, MOST_WORDS);

/** A word as it may be written: the database folds the case of A to Z only, whatever its locale. */
function spellings(word: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: all of ASCII
  if (/^[\x00-\x7f]*$/.test(word)) return [word];
  const lower = word.toLowerCase();
  return [...new Set([word, lower, word.toUpperCase(), lower.charAt(0).toUpperCase() + lower.slice(1)])];
}

/** For LIKE: what stands for something there stands for itself. */
export const escapeLike = (text: string): string => text.replace(/[\\%_]/g, "\\$&");

/** What Prisma asks of a text field. */
type Contains = { contains: string; mode: "insensitive" };

/**
 * Rows that have each word of a search in one of their fields; all rows for a search without a word.
 * @param of the fields that are searched, such as `(text) => [{ name: text }, { user: { email: text } }]`
 */
export const havingWords = <Where>(q: string | undefined, of: (text: Contains) => Where[]): { AND: { OR: Where[] }[] } => ({
  AND: wordsOf(q).map((word) => ({
    OR: spellings(word).flatMap((spelling) => of({ contains: escapeLike(spelling), mode: "insensitive" })),
  })),
});

/** The same as a condition in SQL, of one text. */
export function hasWords(q: string | undefined, text: Prisma.Sql): Prisma.Sql {
  const each = wordsOf(q).map((word) => {
    const any = spellings(word).map((spelling) => Prisma.sql`${text} ILIKE ${`%${escapeLike(spelling)}%`}`);
    return Prisma.sql`(${Prisma.join(any, " OR ")})`;
  });
  return each.length ? Prisma.join(each, " AND ") : Prisma.sql`true`;
}

/** The same for a text that is at hand. */
export function textHasWords(q: string | undefined, text: string): boolean {
  const searched = text.toLowerCase();
  return wordsOf(q).every((word) => searched.includes(word.toLowerCase()));
}
