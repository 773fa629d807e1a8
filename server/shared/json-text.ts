import { assertJsonDepth } from "#server/shared/json-depth.ts";
import { isJson } from "#server/shared/json-steps.ts";
import { PIECE, piecesOf } from "#server/shared/text-pieces.ts";

// Looking things up by names that people or other programs chose. A plain object also has the names that every object has:
// a node with the id "constructor" would be found where there is none.

/** An object that has only the entries of these. */
export const dictionary = <Value>(...parts: readonly Readonly<Record<string, Value>>[]): Record<string, Value> =>
  Object.assign(Object.create(null), ...parts);

/** What an object has under a name of its own. */
export const own = <Value>(record: Readonly<Record<string, Value>> | undefined, name: string): Value | undefined =>
  record !== undefined && Object.hasOwn(record, name) ? record[name] : undefined;

/** What JavaScript has for numbers of JSON that it cannot hold itself; TypeScript does not know it yet, older browsers neither. */
interface ExactJson {
  parse(text: string, reviver: (key: string, value: unknown, context?: { source?: string }) => unknown): unknown;
  rawJSON?(text: string): unknown;
  isRawJSON?(value: unknown): boolean;
}
const exact = JSON as unknown as ExactJson;

/** A whole number with more digits than JavaScript keeps, such as an id of 64 bits. */
const LONG_NUMBER = /(?<![\d.])\d{16}/;
const isTooLong = (source: string) => /^-?\d+$/.test(source) && !Number.isSafeInteger(Number(source));

/**
 * JSON as a value. A whole number that JavaScript would round keeps all its digits: such a one is an object that
 * `JSON.stringify` writes as it came, `isExactNumber` says so.
 * @param each what to make of every value in it; left out, nothing
 * @throws SyntaxError for what is no JSON; JsonTooComplex for what is nested too deeply
 */
export function parseJson(text: string, each?: (value: unknown) => unknown): unknown {
  assertJsonDepth(text);
  const { rawJSON } = exact;
  if (!rawJSON || !LONG_NUMBER.test(text)) return each ? JSON.parse(text, (_, value) => each(value)) : JSON.parse(text);
  return exact.parse(text, (_, value, context) => {
    if (typeof value === "number" && context?.source !== undefined && isTooLong(context.source)) return rawJSON(context.source);
    return each ? each(value) : value;
  });
}

/** True for a number that `parseJson` kept as it came. */
export const isExactNumber = (value: unknown): boolean => exact.isRawJSON?.(value) ?? false;

/** True for a text that begins and ends as a JSON object or list does. */
const isBracketed = (bare: string): boolean => (bare.startsWith("{") && bare.endsWith("}")) || (bare.startsWith("[") && bare.endsWith("]"));

/** Text as JSON text of the value that it stands for: an object or a list as it is, anything else as a string (contract, section 4). */
export function embedded(text: string): string {
  const bare = text.trim();
  if (isBracketed(bare)) {
    try {
      JSON.parse(bare);
      return bare;
    } catch {
      // Text that only looks like JSON stays text.
    }
  }
  return JSON.stringify(text);
}

/** Characters that are parsed at once, which takes a few milliseconds. */
const AT_ONCE = 4 * PIECE;

/** The same in pieces, some of which may be empty: a caller can stop or yield between them. */
function* embeddedPieces(text: string): Generator<string> {
  if (text.length <= AT_ONCE) return yield embedded(text);
  const bare = text.trim();
  if (isBracketed(bare)) {
    const steps = isJson(bare);
    let step = steps.next();
    for (; !step.done; step = steps.next()) yield "";
    if (step.value) return yield* piecesOf(bare);
  }
  yield '"';
  for (const piece of piecesOf(text)) yield JSON.stringify(piece).slice(1, -1);
  yield '"';
}

/** A JSON array of texts in pieces, those that are JSON embedded as such. */
export function* listPieces(texts: readonly string[]): Generator<string> {
  for (const [index, text] of texts.entries()) {
    yield index === 0 ? "[" : ",";
    yield* embeddedPieces(text);
  }
  yield texts.length === 0 ? "[]" : "]";
}

/** A JSON array of texts, those that are JSON embedded as such. */
export const listText = (texts: readonly string[]): string => `[${texts.map(embedded).join(",")}]`;

/** Entries under names that are each there once. A name that comes again has its number behind it. */
function named(entries: readonly (readonly [string, string])[]): [string, string][] {
  const taken = new Set(entries.map(([name]) => name));
  const seen = new Set<string>();
  return entries.map(([name, text]) => {
    let key = name;
    for (let count = 2; seen.has(key) || (key !== name && taken.has(key)); count++) key = `${name} ${count}`;
    seen.add(key);
    return [key, text];
  });
}

/** A JSON object of texts by name, those that are JSON embedded as such. A name that comes again has its number behind it. */
export const objectText = (entries: readonly (readonly [string, string])[]): string =>
  `{${named(entries)
    .map(([key, text]) => `${JSON.stringify(key)}:${embedded(text)}`)
    .join(",")}}`;

/** The same in pieces, some of which may be empty. */
export function* objectPieces(entries: readonly (readonly [string, string])[]): Generator<string> {
  yield "{";
  for (const [index, [key, text]] of named(entries).entries()) {
    yield `${index === 0 ? "" : ","}${JSON.stringify(key)}:`;
    yield* embeddedPieces(text);
  }
  yield "}";
}
