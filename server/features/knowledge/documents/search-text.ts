// Scripts that are written without blanks: PostgreSQL's parser takes a whole run of them for one word.
const UNSPACED = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]+/gu;

/**
 * The text as it is put into the index and into queries: in small letters, which PostgreSQL under the locale C makes of ASCII
 * only, and runs of a script without blanks as overlapping pairs of characters.
 */
export const searchText = (text: string): string =>
  text
    .normalize("NFKC")
    .toLowerCase()
    .replace(UNSPACED, (run) => {
      const characters = [...run];
      if (characters.length < 2) return ` ${run} `;
      return ` ${characters
        .slice(1)
        .map((character, index) => `${characters[index]}${character}`)
        .join(" ")} `;
    });
