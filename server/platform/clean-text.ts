/** How deep objects and lists may be nested in JSON that comes from outside. What walks it later has only so much stack. */
export const MAX_JSON_DEPTH = 100;

/** How JSON writes what must be cleaned away; a bare U+0000 is no JSON. */
const ESCAPED = /\\u(0000|d[89a-f])/i;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;

/** Text that PostgreSQL can keep: without U+0000, and with halves of surrogate pairs replaced by U+FFFD. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll("\u0000", "");

/** Whether a JSON text opens more brackets within each other than may be; those in its texts do not count. */
function isTooDeep(json: string): boolean {
  let depth = 0;
  let isText = false;
  for (let at = 0; at < json.length; at++) {
    const code = json.charCodeAt(at);
    if (isText) {
      if (code === BACKSLASH) at++;
      else if (code === QUOTE) isText = false;
    } else if (code === QUOTE) isText = true;
    else if (code === 0x5b || code === 0x7b) {
      if (++depth > MAX_JSON_DEPTH) return true;
    } else if (code === 0x5d || code === 0x7d) depth--;
  }
  return false;
}

/** The same value with its texts cleaned, and the keys of its objects. */
function cleanPart(value: unknown): unknown {
  if (typeof value === "string") return cleanText(value);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  if (Object.keys(value).every((key) => key === cleanText(key))) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [cleanText(key), part]));
}

/** Parses JSON, making of every value in it what `each` says. */
type ParseJson = (text: string, each?: (value: unknown) => unknown) => unknown;

const plainly: ParseJson = (text, each) => (each ? JSON.parse(text, (_, value) => each(value)) : JSON.parse(text));

/**
 * Parses JSON with every text in it cleaned, keys too.
 * @param parse another parser, such as one that keeps long numbers
 * @throws SyntaxError for what is no JSON; RangeError for JSON nested deeper than MAX_JSON_DEPTH
 */
export function parseCleanJson(text: string, parse: ParseJson = plainly): unknown {
  if (isTooDeep(text)) throw new RangeError(`JSON nested more than ${MAX_JSON_DEPTH} levels deep.`);
  return parse(text, ESCAPED.test(text) || !text.isWellFormed() ? cleanPart : undefined);
}
