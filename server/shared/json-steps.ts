import { PIECE } from "#server/shared/text-pieces.ts";

// Reads JSON without making values of it, and in steps: JSON.parse takes all at once and several times the memory of the text.

const QUOTE = 0x22;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const [COMMA, COLON] = [0x2c, 0x3a];
const BLANKS = /[ \t\n\r]*/y;
const SIMPLE = /true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
/** The part of a string before its next escape, and the rest of one without any. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they cannot stand in a string
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const PLAIN_END = new RegExp(`${PLAIN.source}"`, "y");
const ESCAPE = /\\(?:["\\/bfnrt]|u[\da-fA-F]{4})/y;
/** Brackets that may be open at a time. */
const MAX_DEPTH = 100_000;

/** Returns the end of the match of `pattern`, a sticky one, at a place of a text; -1 without a match. */
function after(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at;
  return pattern.test(text) ? pattern.lastIndex : -1;
}

/** The end of a string that begins before `from`, or -1. */
function* endOfString(text: string, from: number): Generator<void, number> {
  let step = from + PIECE;
  for (let at = from; ; ) {
    at = after(PLAIN, text, at);
    if (text.charCodeAt(at) === QUOTE) return at + 1;
    at = after(ESCAPE, text, at);
    if (at === -1) return -1;
    if (at < step) continue;
    step = at + PIECE;
    yield;
  }
}

/** Says whether a text is JSON (RFC 8259), as JSON.parse would. Yields between steps. */
export function* isJson(text: string): Generator<void, boolean> {
  /** Brackets that are open, by what closes them. */
  const open: number[] = [];
  let at = 0;
  let step = PIECE;
  const isNext = (code: number): boolean => {
    if (text.charCodeAt(at) !== code) return false;
    at++;
    return true;
  };
  const skip = () => {
    at = after(BLANKS, text, at);
  };

  for (;;) {
    // A value begins here, or of an object the name of a field.
    skip();
    if (open.at(-1) === CLOSE_OBJECT) {
      if (!isNext(QUOTE)) return false;
      const end = after(PLAIN_END, text, at);
      at = end === -1 ? yield* endOfString(text, at) : end;
      if (at === -1) return false;
      skip();
      if (!isNext(COLON)) return false;
      skip();
    }
    const isList = isNext(OPEN_LIST);
    if (isList || isNext(OPEN_OBJECT)) {
      open.push(isList ? CLOSE_LIST : CLOSE_OBJECT);
      if (open.length > MAX_DEPTH) return false;
      skip();
      if (text.charCodeAt(at) !== open.at(-1)) continue;
    } else {
      const isString = isNext(QUOTE);
      const end = after(isString ? PLAIN_END : SIMPLE, text, at);
      at = end === -1 && isString ? yield* endOfString(text, at) : end;
      if (at === -1) return false;
    }

    // A value has ended here, or a bracket may be closed.
    skip();
    while (open.length > 0 && isNext(open.at(-1) ?? 0)) {
      open.pop();
      skip();
    }
    if (open.length === 0) return at === text.length;
    if (!isNext(COMMA)) return false;
    if (at < step) continue;
    step = at + PIECE;
    yield;
  }
}
