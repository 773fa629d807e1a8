import { folded } from "#server/platform/masking/secret-forms.ts";

// How one character is written in JSON, Markdown, HTML and URLs, and in what programs print.

/** One way to read what stands at a place of a text: the characters, folded, and how many characters of the text they take. */
export interface Reading {
  units: string;
  length: number;
}

const BACKSLASH = 0x5c;
const PERCENT = 0x25;
const AMPERSAND = 0x26;
const PLUS = 0x2b;

/** Most characters of one escape in HTML. */
const LONGEST_ENTITY = 12;

const BLANKS = "nrtfv";
/** Names that HTML has for characters of ASCII, and the blank that does not break. */
const NAMED: Record<string, string> = {
  ...{ amp: "&", lt: "<", gt: ">", quot: '"', apos: "'", nbsp: " ", excl: "!", num: "#", dollar: "$", percnt: "%", lpar: "(" },
  ...{ rpar: ")", ast: "*", midast: "*", plus: "+", comma: ",", period: ".", sol: "/", colon: ":", semi: ";", equals: "=" },
  ...{ quest: "?", commat: "@", lsqb: "[", lbrack: "[", bsol: "\\", rsqb: "]", rbrack: "]", hat: "^", lowbar: "_", grave: "`" },
  ...{ lcub: "{", lbrace: "{", verbar: "|", vert: "|", rcub: "}", rbrace: "}", tab: "\t", newline: "\n" },
};

const NONE: { readings: Reading[]; isOpen: boolean } = { readings: [], isOpen: false };
const readingOf = (units: string, length: number) => ({ readings: [{ units: folded(units), length }], isOpen: false });

const hexDigit = (code: number): number => {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const small = code | 0x20;
  return small >= 0x61 && small <= 0x66 ? small - 0x57 : -1;
};

/** The number that so many hexadecimal digits stand for; -1 for something else, -2 when the text ends before that is known. */
function hexAt(text: string, at: number, digits: number): number {
  let value = 0;
  for (let index = at; index < at + digits; index++) {
    if (index >= text.length) return -2;
    const digit = hexDigit(text.charCodeAt(index));
    if (digit < 0) return -1;
    value = value * 16 + digit;
  }
  return value;
}

/** `\n`, `\u00e9`, `\x41`. A backslash before any other character is left out by whoever reads it. */
function afterBackslash(text: string, at: number) {
  if (at + 1 >= text.length) return { readings: [], isOpen: true };
  const letter = text[at + 1] ?? "";
  if (BLANKS.includes(letter)) return readingOf(" ", 2);
  if (letter === "b") return readingOf("\b", 2);
  const digits = letter === "u" ? 4 : letter === "x" ? 2 : 0;
  if (digits === 0) return NONE;
  const code = hexAt(text, at + 2, digits);
  return code >= 0 ? readingOf(String.fromCharCode(code), 2 + digits) : { readings: [], isOpen: code === -2 };
}

/** `%41`, and several for the bytes of one character. */
function afterPercent(text: string, at: number) {
  const byte = hexAt(text, at + 1, 2);
  if (byte < 0) return { readings: [], isOpen: byte === -2 };
  if (byte < 0x80) return readingOf(String.fromCharCode(byte), 3);
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
  // A single byte is what older programs write.
  const readings = [{ units: folded(String.fromCharCode(byte)), length: 3 }];
  const bytes = [byte];
  for (let index = at + 3; bytes.length < length; index += 3) {
    if (index >= text.length) return { readings, isOpen: true };
    const next = text.charCodeAt(index) === PERCENT ? hexAt(text, index + 1, 2) : -1;
    if (next < 0) return { readings, isOpen: next === -2 };
    bytes.push(next);
  }
  const character = Buffer.from(bytes).toString();
  if (!character.includes("\ufffd")) readings.push({ units: folded(character), length: 3 * length });
  return { readings, isOpen: false };
}

/** `&amp;`, `&#38;`, `&#x26;`. */
function afterAmpersand(text: string, at: number) {
  const rest = text.slice(at + 1, at + LONGEST_ENTITY);
  const [, name = "", end] = /^(#?\w{0,9})(;?)/.exec(rest) ?? [];
  if (!end) return { readings: [], isOpen: at + 1 + name.length === text.length };
  const code = name.startsWith("#x") || name.startsWith("#X") ? Number.parseInt(name.slice(2), 16) : Number.parseInt(name.slice(1), 10);
  const character = name.startsWith("#") ? (code <= 0x10_ffff ? String.fromCodePoint(code) : "") : (NAMED[name.toLowerCase()] ?? "");
  return character ? readingOf(character, 2 + name.length) : NONE;
}

/** True for a character that may stand for another, or begin what does. */
export const mayEscape = (code: number): boolean =>
  code <= BACKSLASH && (code === BACKSLASH || code === PERCENT || code === AMPERSAND || code === PLUS);

/**
 * How else the character at a place of a text can be read than as it stands.
 * @returns isOpen: an escape that begins here may go on behind the end of the text
 */
export function readingsAt(text: string, at: number, code: number): { readings: Reading[]; isOpen: boolean } {
  if (code === BACKSLASH) return afterBackslash(text, at);
  if (code === PERCENT) return afterPercent(text, at);
  if (code === AMPERSAND) return afterAmpersand(text, at);
  return code === PLUS ? readingOf(" ", 1) : NONE;
}

/** True for a character before any other that only says that the other stands for itself, as in Markdown and JSON. */
export const isSkipped = (code: number): boolean => code === BACKSLASH;
