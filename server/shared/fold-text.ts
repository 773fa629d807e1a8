/** Soft hyphens, zero-width characters and variation selectors. */
const IGNORABLE = /\p{DI}/gu;
/** Normalizing a run of marks takes quadratic time; no language writes so many (Unicode, UAX 15, Stream-Safe Text Format). */
const EXCESS_MARKS = /(\p{M}{30})\p{M}{1,1000}/gu;
const APOSTROPHES = /[\u02b9-\u02bc\u2018\u2019\u201b\u2032]/g;
/** The Cyrillic й and ў are letters of their own, unlike ё. Marks of other scripts are part of the word. */
const ACCENTED = /([иу]\u0306)|([\p{sc=Latn}\p{sc=Grek}\p{sc=Cyrl}])\p{Mn}+/gu;
const LETTERS: Record<string, string> = { ß: "ss", æ: "ae", œ: "oe", ø: "o", đ: "d", ð: "d", ł: "l", ħ: "h", þ: "th" };

function cutMarks(text: string): string {
  let end = -1;

  return text.replace(EXCESS_MARKS, (run: string, beginning: string, at: number) => {
    const isContinued = at === end;
    end = at + run.length;
    return isContinued ? "" : beginning;
  });
}

/** Key by which two names are the same: NFKC in lower case. Accents count. */
export const nameKey = (name: string): string => name.normalize("NFKC").toLowerCase();

/** Text as searches compare it: NFKC in lower case with plain apostrophes, without invisible characters. Accents stay. */
export function foldText(text: string): string {
  if (!/\P{ASCII}/u.test(text)) return text.toLowerCase();

  return cutMarks(text.replace(IGNORABLE, ""))
    .normalize("NFKC")
    .replace(/[İı]/g, "i")
    .toLowerCase()
    .replaceAll("ς", "σ")
    .replace(APOSTROPHES, "'");
}

/** Folded text without the accents of Latin, Greek and Cyrillic letters. */
export function foldAccents(text: string): string {
  const folded = foldText(text);
  if (!/\P{ASCII}/u.test(folded)) return folded;

  return folded
    .normalize("NFD")
    .replace(ACCENTED, "$1$2")
    .normalize("NFC")
    .replace(/[ßæœøđðłħþ]/g, (letter) => LETTERS[letter] ?? letter);
}

/** Returns true when a text contains each word of a search, in any order. */
export function containsWords(text: string, search: string): boolean {
  const folded = foldAccents(text);
  return foldAccents(search)
    .split(/\s+/)
    .every((word) => folded.includes(word));
}

/** Returns the items whose text contains a query, those with the same accents first. */
export function filterByText<Item>(items: readonly Item[], query: string, textOf: (item: Item) => string): Item[] {
  const wanted = foldAccents(query.trim());
  const exact = foldText(query.trim());
  const found = items.filter((item) => foldAccents(textOf(item)).includes(wanted));
  const isExact = new Set(found.filter((item) => foldText(textOf(item)).includes(exact)));

  return [...isExact, ...found.filter((item) => !isExact.has(item))];
}
