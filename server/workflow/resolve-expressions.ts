import { JsonTooComplex } from "#server/shared/json-depth.ts";
import { parseJson } from "#server/shared/json-text.ts";
import { shorten } from "#server/shared/shorten.ts";
import {
  type IsName,
  isNameOf,
  MAX_FAULT_LENGTH,
  matchName,
  type PathPart,
  parseTemplate,
  type Reference,
  shownName,
  shownSource,
  suggestion,
  suggestionFor,
  type TemplatePart,
} from "#server/workflow/expressions.ts";
import { filterNamed, type JsonWork } from "#server/workflow/filters.ts";
import { MAX_OUTPUT, tooLong } from "#server/workflow/output-size.ts";

// Values of {{expressions}} against a scope. Pure and browser-safe: a run and the editor's preview use the same code.

const ANY_CASE = Symbol("names in any case of letters");

/** An object whose names, which are in small letters, a path may write in any case of letters. */
export const anyCase = <Value extends object>(record: Value): Value => Object.defineProperty(record, ANY_CASE, { value: true });

/** Thrown when a template cannot be resolved; the text says which expression and why. */
export class ExpressionError extends Error {
  override name = "ExpressionError";

  /** @param message kept up to 500 characters */
  constructor(message: string) {
    super(shorten(message, MAX_FAULT_LENGTH));
  }
}

/** Value of a name: its fields by the first part of the path. `output` is text that may hold JSON. */
export interface ScopeEntry {
  name: string;
  fields: Record<string, unknown>;
  /** True when a field is one text, which no path goes into. */
  isFlat?: boolean;
  /** True for a node that was skipped: it reads as empty text, and so does whatever would be in it. */
  isSkipped?: boolean;
  /** True where `output` is only the beginning of the text: nothing that depends on the rest can be read. */
  isPartial?: boolean | undefined;
}

export interface Scope {
  /** Returns the entry of a name: matched exactly, then by slug. */
  find(name: string): ScopeEntry | undefined;
  /** Every name, for a suggestion. */
  names(): string[];
  /** Returns true for a name of the workflow, readable or not; left out where no name has a dot in it. */
  isName?: IsName | undefined;
  /** Reads JSON text; a run remembers what it has read, since a loop reads the same again and again. Of what is read anew it calls `count`. */
  parse?(text: string, count: () => void): unknown;
  /** Results of `longReadsOf` by source, where another process computes them. */
  readAhead?: ReadonlyMap<string, ReadResult> | undefined;
}

/** References into long texts, with the index of the text of each: it is parsed for the path or goes through the filters. Plain data. */
export interface LongReads {
  texts: string[];
  reads: { reference: Reference; text: number }[];
}

/** A text, or any other value as JSON; or why there is none. Plain data. */
export type ReadResult = { text: string } | { json: string } | { error: string };

/** Value that another process has read, as JSON that is parsed only where its type matters. */
class JsonValue {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }
}

/** A scope of a few fixed entries. */
export const scopeOfEntries = (entries: readonly ScopeEntry[]): Scope => ({
  find: (name) => matchName(entries, name),
  names: () => entries.map((entry) => entry.name),
  isName: isNameOf(entries.map((entry) => entry.name)),
});

/** Follows a path into a value; text is read as JSON when a path goes into it. */
function follow(value: unknown, path: readonly PathPart[], reference: Reference, parse: (text: string) => unknown): unknown {
  let current = value;
  for (const [index, written] of path.entries()) {
    if (typeof current === "string") {
      try {
        current = parse(current);
      } catch (error) {
        if (error instanceof ExpressionError) throw error;
        if (error instanceof JsonTooComplex)
          throw new ExpressionError(`${shownSource(reference)} reads into JSON that is too complex. ${error.message}`);
        throw new ExpressionError(`${shownSource(reference)} reads into text that is not JSON. It begins: ${String(current).slice(0, 80)}`);
      }
    }
    const container: unknown = current;
    const isAnyCase = container !== null && typeof container === "object" && ANY_CASE in container;
    const part = isAnyCase && typeof written === "string" ? written.toLowerCase() : written;
    const isKnown = container !== null && typeof container === "object" && Object.hasOwn(container, part);
    if (!isKnown) {
      const where = shownName([reference.head, reference.path[0], ...path.slice(0, index)].join("."));
      const names = container !== null && typeof container === "object" && !Array.isArray(container) ? Object.keys(container) : [];
      throw new ExpressionError(
        `${shownSource(reference)}: ${where} has no ${typeof part === "number" ? `item ${part}` : `"${shownName(part)}"`}.${suggestion(names, String(part))}`,
      );
    }
    current = (container as Record<PathPart, unknown>)[part];
  }
  return current;
}

/** What is wrong with a path into a secret or a filter on one, if anything: what they make of it would not be recognised where it must be masked. */
export function flatFault({ source, head, path, filters: calls }: Reference): string | undefined {
  if (path.length <= 1 && calls.length === 0) return undefined;
  return `${shownSource({ source })} reads a part of a credential, and a credential is one text. Write {{${head}.${shownName(String(path[0]))}}}.`;
}

/** The field that a reference begins with. */
function fieldOf(reference: Reference, entry: ScopeEntry): unknown {
  const key = String(reference.path[0]);
  if (Object.hasOwn(entry.fields, key)) return entry.fields[key];
  throw new ExpressionError(
    `${shownSource(reference)}: ${shownName(entry.name)} has no "${shownName(key)}".${suggestion(Object.keys(entry.fields), key)}`,
  );
}

/** How many characters the filters of one node may go through, and be read as JSON for it: seconds of work at most. */
const MAX_FILTERED = 16 * MAX_OUTPUT;
/** What an item of a list and a field of an object count as, beside a character of a text. */
const ITEM = 4;
const FIELD = 64;

/** What the expressions of one node, or of a text that stands alone, may still take: characters that filters go through or that are read as JSON, and of the whole. */
export interface Work {
  filtered: number;
  text: number;
  /** JSON of values that have been written: a text may have the same one many times. */
  written: Map<unknown, string>;
}
export const newWork = (): Work => ({ filtered: MAX_FILTERED, text: MAX_OUTPUT, written: new Map() });

/** Writes a value as JSON, the same object only once. */
function writeJson(value: unknown, work: Work): string {
  const known = work.written.get(value);
  if (known !== undefined) return known;
  const text = JSON.stringify(value);
  if (value !== null && typeof value === "object") work.written.set(value, text);
  return text;
}

function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length;
  if (Array.isArray(value)) return ITEM * value.length;
  return value !== null && typeof value === "object" ? FIELD * Object.keys(value).length : 0;
}

const tooMuchRead = (reference: Reference): string =>
  `${shownSource(reference)}: there are filters on too much here, or too much JSON is read. Use a code node.`;

function charge(work: Work, value: unknown, reference: Reference): void {
  work.filtered -= sizeOf(value);
  if (work.filtered < 0) throw new ExpressionError(tooMuchRead(reference));
}

/** Reads JSON text once for all that reads it, as far as the scope remembers. */
type Parse = (text: string, count: () => void) => unknown;

/** Follows a path from a field and applies the filters. Where the first says what stands in for nothing, a field that is not there is nothing. */
function readOn(field: () => unknown, reference: Reference, parse: Parse, work: Work): unknown {
  let value: unknown;
  try {
    value = follow(field(), reference.path.slice(1), reference, (text) => parse(text, () => charge(work, text, reference)));
  } catch (error) {
    if (!(error instanceof ExpressionError) || reference.filters[0]?.name !== "default") throw error;
  }
  const json: JsonWork = { parse: (text) => parse(text, () => undefined), stringify: (content) => writeJson(content, work) };
  for (const { name, args } of reference.filters) {
    charge(work, value, reference);
    try {
      value = filterNamed(name)?.apply(value, args, json);
    } catch (error) {
      throw new ExpressionError(`${shownSource(reference)}: ${name} ${error instanceof Error ? error.message : String(error)}`);
    }
    charge(work, value, reference);
  }
  return value;
}

/**
 * The value of one reference.
 * @throws ExpressionError for an unknown name, an unknown field, a path into something that is not there, or a filter on the wrong
 *   kind of value
 */
export function resolveReference(reference: Reference, scope: Scope, work: Work = newWork()): unknown {
  if (reference.fault) throw new ExpressionError(reference.fault);
  const ahead = scope.readAhead?.get(reference.source);
  if (ahead) {
    if ("error" in ahead) throw new ExpressionError(ahead.error);
    return "text" in ahead ? ahead.text : new JsonValue(ahead.json);
  }
  const entry = scope.find(reference.head);
  if (!entry) throw new ExpressionError(`${shownSource(reference)} names nothing that has run.${suggestionFor(scope.names(), reference)}`);
  const flat = entry.isFlat ? flatFault(reference) : undefined;
  if (flat !== undefined) throw new ExpressionError(flat);
  if (entry.isPartial && reference.path[0] === "output" && (reference.path.length > 1 || reference.filters.length > 0))
    throw new ExpressionError(`${shownSource(reference)} reads a text of which only the beginning is at hand.`);
  // In a node that was skipped every path leads to nothing.
  const read = entry.isSkipped ? { ...reference, path: reference.path.slice(0, 1) } : reference;
  const field = () => {
    const value = fieldOf(reference, entry);
    return entry.isSkipped ? "" : value;
  };
  return readOn(field, read, (text, count) => (scope.parse ? scope.parse(text, count) : parseJson(text)), work);
}

/** Text that the expressions of one node read in the process that runs it, in characters; what takes more leaves it. */
const MAX_INLINE = 256 * 1024;
/** Text that is sent to another process, in characters. */
const MAX_SENT = 4 * MAX_OUTPUT;

/**
 * Returns what of these references takes long to read, or undefined when all of it is quick. Each text is counted once for
 * being parsed and once for each filter.
 * @param isParsed true for a text that the scope has parsed already
 * @throws ExpressionError when it is too much for another process, too
 */
export function longReadsOf(
  references: readonly Reference[],
  scope: Pick<Scope, "find">,
  isParsed: (text: string) => boolean = () => false,
): LongReads | undefined {
  const texts = new Map<string, number>();
  const reads = new Map<string, LongReads["reads"][number]>();
  let size = 0;
  for (const reference of references) {
    if (reference.fault || (reference.path.length < 2 && reference.filters.length === 0)) continue;
    const entry = scope.find(reference.head);
    const value = entry && !entry.isFlat && !entry.isSkipped ? entry.fields[String(reference.path[0])] : undefined;
    if (typeof value !== "string") continue;
    const isNew = !texts.has(value);
    if (isNew && !(reference.filters.length === 0 && isParsed(value))) size += value.length;
    size += reference.filters.length * value.length;
    const text = texts.get(value) ?? texts.size;
    texts.set(value, text);
    reads.set(reference.source, { reference, text });
  }
  if (size <= MAX_INLINE) return undefined;
  const [first] = reads.values();
  const sent = [...texts.keys()].reduce((sum, text) => sum + text.length, 0);
  if (first && sent > MAX_SENT) throw new ExpressionError(tooMuchRead(first.reference));
  return { texts: [...texts.keys()], reads: [...reads.values()] };
}

/** Reads what `longReadsOf` returned. Each text is parsed once; never throws. */
export function readLong({ texts, reads }: LongReads): ReadResult[] {
  const work = newWork();
  const parsed = new Map<string, { value: unknown } | { error: unknown }>();
  const parse: Parse = (text, count) => {
    let known = parsed.get(text);
    if (!known) {
      count();
      try {
        known = { value: parseJson(text) };
      } catch (error) {
        known = { error };
      }
      parsed.set(text, known);
    }
    if ("error" in known) throw known.error;
    return known.value;
  };
  let size = 0;
  return reads.map(({ reference, text }): ReadResult => {
    try {
      const value = readOn(() => texts[text], reference, parse, work);
      const result: ReadResult = typeof value === "string" ? { text: value } : { json: writeJson(value ?? null, work) };
      size += "text" in result ? result.text.length : result.json.length;
      if (size > 2 * MAX_OUTPUT) throw new ExpressionError(tooMuchRead(reference));
      return result;
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  });
}

/** Text form of a value: text as it is, nothing as empty, all else as compact JSON. */
export const asText = (value: unknown, work?: Work): string => {
  if (typeof value === "string") return value;
  if (value === undefined || value === null) return "";
  if (value instanceof JsonValue) return value.json === "null" ? "" : value.json;
  return work ? writeJson(value, work) : JSON.stringify(value);
};

/**
 * Puts the parts of a template together.
 * @param textFor what a value brings to the part of this index
 */
function together(parts: readonly TemplatePart[], scope: Scope, work: Work, textFor: (value: unknown, index: number) => string): string {
  let whole = "";
  for (const [index, part] of parts.entries()) {
    const text = "text" in part ? part.text : textFor(resolveReference(part.reference, scope, work), index);
    work.text -= text.length;
    if (work.text < 0) throw new ExpressionError(tooLong(MAX_OUTPUT - work.text));
    whole += text;
  }
  return whole;
}

/**
 * A template as text.
 * @throws ExpressionError as resolveReference does, and before the text gets longer than a node may work with
 */
export const resolveText = (template: string | readonly TemplatePart[], scope: Scope, work: Work = newWork()): string =>
  together(typeof template === "string" ? parseTemplate(template, scope.isName) : template, scope, work, (value) => asText(value, work));

/**
 * A template of JSON as text. What an expression brings within a string is escaped, so that quotes and line breaks in it stay part
 * of the string; outside of strings it stands as it is.
 * @throws ExpressionError as resolveText does
 */
export function resolveJson(parts: readonly TemplatePart[], scope: Scope, work: Work = newWork()): string {
  let isInString = false;
  const isEscaped = parts.map((part) => {
    if ("text" in part) for (const [sign] of part.text.matchAll(/\\[\s\S]|"/g)) if (sign === '"') isInString = !isInString;
    return isInString;
  });
  return together(parts, scope, work, (value, index) => {
    const text = asText(value, work);
    return isEscaped[index] ? JSON.stringify(text).slice(1, -1) : text;
  });
}

/**
 * A template's value: of a single expression with nothing around it the value itself, otherwise text.
 * @throws ExpressionError as resolveReference does
 */
export function resolveValue(template: string, scope: Scope, work: Work = newWork()): unknown {
  const parts = parseTemplate(template.trim(), scope.isName);
  const [only] = parts;
  const isOne = parts.length === 1 && only && "reference" in only;
  if (!isOne) return resolveText(template, scope, work);
  const value = resolveReference(only.reference, scope, work);
  return value instanceof JsonValue ? parseJson(value.json) : value;
}
