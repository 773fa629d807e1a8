/** Most levels to which objects and lists may be nested in JSON from outside. What walks it later has only so much stack. */
export const MAX_JSON_DEPTH = 100;

/** The same of JSON that a run reads: nodes put what came from outside into objects and lists, such as a body into its request. */
export const MAX_VALUE_DEPTH = 2 * MAX_JSON_DEPTH;

/** JSON that is refused before it is parsed. The message is a sentence for the client. */
export class JsonTooComplex extends RangeError {}

/** Returns the refusal of JSON that is nested too deeply. */
export const tooDeep = (most: number): JsonTooComplex => new JsonTooComplex(`It is nested more than ${most} levels deep. Make it flatter.`);

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Returns the place of the quote that ends a string of JSON, or the length of the text. @param from place of the quote that begins it */
function endOfString(json: string, from: number): number {
  for (let at = json.indexOf('"', from + 1); at !== -1; at = json.indexOf('"', at + 1)) {
    let first = at;
    while (json.charCodeAt(first - 1) === BACKSLASH) first--;
    if ((at - first) % 2 === 0) return at;
  }
  return json.length;
}

/** @throws JsonTooComplex for JSON that is nested more than MAX_VALUE_DEPTH levels deep */
export function assertJsonDepth(json: string): void {
  if (json.length <= MAX_VALUE_DEPTH) return;
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (code === QUOTE) at = endOfString(json, at);
    else if (code === OPEN_LIST || code === OPEN_OBJECT) {
      if (++depth > MAX_VALUE_DEPTH) throw tooDeep(MAX_VALUE_DEPTH);
    } else if (code === CLOSE_LIST || code === CLOSE_OBJECT) depth--;
  }
}
