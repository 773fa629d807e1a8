// Long texts, piece by piece: work on one is done in steps between which the event loop has its turn.

/** Characters of a piece. */
export const PIECE = 64 * 1024;

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code < 0xdc00;

/** Cuts a text into pieces of so many characters. A surrogate pair is not cut, so a piece may have one more. */
export function* piecesOf(text: string): Generator<string> {
  for (let at = 0; at < text.length; ) {
    let end = at + PIECE;
    if (end < text.length && isHighSurrogate(text.charCodeAt(end - 1))) end++;
    yield text.slice(at, end);
    at = end;
  }
}
