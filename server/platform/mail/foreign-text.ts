// Texts in our mails that somebody else wrote. Who sends the mail is us, so they must not pass for our words, nor lead anywhere.

/** Control and format characters (those that turn the direction of text, too), but line breaks and tabs. */
const UNSEEN = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu;
/** What mail programs make links of: `://` after any scheme, and a dot of any alphabet before a name. */
const LEADING = /(?<=\S)(:\/\/|[.\u3002\uFF0E\uFF61](?=[\p{L}\p{N}]*\p{L}))/gu;

/** Text that no mail program makes a link of: a space parts what would be an address. It reads as before. */
export const unlinked = (text: string): string => text.replace(UNSEEN, "").replace(LEADING, "$1 ");

const LONGEST_NAME = 80;

/** A name in quotes, on one line, of at most 80 characters. */
export function quotedName(name: string): string {
  const plain = unlinked(name)
    .replace(/\s+/g, " ")
    .replace(/["“”„«»]/g, "'")
    .trim();
  const characters = [...plain];
  return `“${characters.length > LONGEST_NAME ? `${characters.slice(0, LONGEST_NAME - 1).join("")}…` : plain}”`;
}
