import { TimeSlice } from "#server/platform/time-slice.ts";
import { JsonTooComplex, MAX_JSON_DEPTH, tooDeep } from "#server/shared/json-depth.ts";
import { piecesOf } from "#server/shared/text-pieces.ts";

/** Most keys of one object in a request to the API, and of all objects of any JSON from outside. Parsing many different keys takes seconds. */
export const MAX_OBJECT_KEYS = 10_000;
export const MAX_JSON_KEYS = 200_000;
/** Most objects and lists of any JSON from outside, nested ones included. An empty one takes two characters and far more memory. */
export const MAX_JSON_PARTS = 200_000;

/** How JSON writes what must be cleaned away; a bare U+0000 is no JSON. */
const ESCAPED = /\\u(0000|d[89a-f])/i;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const NEW_LINE = 0x0a;

/** Text that PostgreSQL can keep: without U+0000, and with halves of surrogate pairs replaced by U+FFFD. */
export const cleanText = (text: string): string => text.toWellFormed().replaceAll("\u0000", "");

/**
 * Scans JSON, also one that comes in parts, for what it would cost to parse and walk it; brackets and colons in its texts do not count.
 * Text around the values, such as the fields of an event stream, does not count either.
 */
export class JsonMeter {
  readonly #mostKeys: number;
  #depth = 0;
  #isText = false;
  #isEscaped = false;
  #allKeys = 0;
  #parts = 0;
  readonly #keys = [0];

  /** @param mostKeys of one object */
  constructor(mostKeys = MAX_OBJECT_KEYS) {
    this.#mostKeys = mostKeys;
  }

  /** @throws JsonTooComplex */
  read(json: string): void {
    for (let at = 0; at < json.length; at++) {
      const code = json.charCodeAt(at);
      if (this.#isEscaped) this.#isEscaped = false;
      else if (this.#isText) {
        if (code === BACKSLASH) this.#isEscaped = true;
        // No text of JSON goes on in the next line.
        else if (code === QUOTE || code === NEW_LINE) this.#isText = false;
      } else if (code === QUOTE) this.#isText = true;
      else if (code === 0x5b || code === 0x7b) this.#open();
      else if (code === 0x5d || code === 0x7d) this.#close();
      else if (code === 0x3a && this.#depth > 0) this.#key();
    }
  }

  #open(): void {
    if (++this.#depth > MAX_JSON_DEPTH) throw tooDeep(MAX_JSON_DEPTH);
    if (++this.#parts > MAX_JSON_PARTS) throw new JsonTooComplex(`It has more than ${MAX_JSON_PARTS} objects and lists. Send fewer.`);
    this.#keys[this.#depth] = 0;
  }

  #close(): void {
    this.#depth = Math.max(0, this.#depth - 1);
    if (this.#depth > 0) return;
    this.#allKeys = 0;
    this.#parts = 0;
  }

  #key(): void {
    const count = (this.#keys[this.#depth] ?? 0) + 1;
    this.#keys[this.#depth] = count;
    if (count > this.#mostKeys) throw new JsonTooComplex(`An object in it has more than ${this.#mostKeys} keys. Send fewer.`);
    if (++this.#allKeys > MAX_JSON_KEYS) throw new JsonTooComplex(`Its objects have more than ${MAX_JSON_KEYS} keys together. Send fewer.`);
  }
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

const parseMetered = (text: string, parse: ParseJson): unknown =>
  parse(text, ESCAPED.test(text) || !text.isWellFormed() ? cleanPart : undefined);

/**
 * Parses JSON with every text in it cleaned, keys too.
 * @param parse another parser, such as one that keeps long numbers
 * @param mostKeys of one object: bounded in bodies that a schema checks
 * @throws SyntaxError for what is no JSON; JsonTooComplex
 */
export function parseCleanJson(text: string, parse: ParseJson = plainly, mostKeys = Number.POSITIVE_INFINITY): unknown {
  new JsonMeter(mostKeys).read(text);
  return parseMetered(text, parse);
}

/** The same for the body of a request to the API, with the keys of each object bounded. */
export const parseApiJson = (text: string): unknown => parseCleanJson(text, plainly, MAX_OBJECT_KEYS);

/** Does what `parseApiJson` does, in slices of time but for the parsing itself. */
export async function parseApiJsonInSlices(text: string): Promise<unknown> {
  const meter = new JsonMeter();
  const slice = new TimeSlice();
  for (const piece of piecesOf(text)) {
    meter.read(piece);
    if (slice.isUp) await slice.next();
  }
  const value = parseMetered(text, plainly);
  if (slice.isUp) await slice.next();
  return value;
}

/** Parses JSON that another server has sent, with its keys bounded, as it came: a surrogate pair may be split over two of them. */
export function parseForeignJson(text: string): unknown {
  new JsonMeter().read(text);
  return JSON.parse(text);
}
