/** Characters that change the direction of text or are not seen, and that no script needs. */
const HIDDEN = /[\u200B\u2060\uFEFF\u202A-\u202E\u2066-\u2069]/g;
/** Joiners, which scripts and emoji need in words. */
const JOINER = /[\u200C\u200D]/g;

const escapeCharacter = (character: string): string => `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}`;

/** Text with an escape such as `\u202E` in place of each hidden character, so that it reads as it is stored. */
export const visibleText = (text: string): string => text.replace(HIDDEN, escapeCharacter);

/** A URL, name or code as `visibleText`, with escapes for joiners too. */
export const visibleName = (text: string): string => visibleText(text).replace(JOINER, escapeCharacter);
