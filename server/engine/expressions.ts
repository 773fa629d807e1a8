// {{expressions}}: parsing, and resolution against a scope. Pure and browser-safe: the run, the checks at save and the
// editor's autocomplete use the same code (specification, Workflow node types; contract, section 4).

import { parseJson } from "#server/engine/json-text.ts";
import { MAX_OUTPUT, tooLong } from "#server/engine/output-size.ts";

export type PathPart = string | number;

/** One `{{…}}`: `head` is what stands before the first dot, `path` what follows. */
export interface Reference {
  source: string;
  head: string;
  path: PathPart[];
  /** Offsets of the whole `{{…}}` in the template. */
  start: number;
  end: number;
  /** Set when the text between the braces cannot be read. */
  fault?: string;
}

export type TemplatePart = { text: string } | { reference: Reference };

const PATH_PART = /\.([^.[\]]+)|\[(\d+)\]|\[(?:"([^"]*)"|'([^']*)')\]/y;

function parseReference(source: string, start: number, end: number): Reference {
  const inner = source.slice(2, -2).trim();
  const at = inner.search(/[.[]/);
  const head = (at === -1 ? inner : inner.slice(0, at)).trim();
  const path: PathPart[] = [];
  const fault = (message: string): Reference => ({ source, head, path, start, end, fault: message });
  if (head === "") return fault(`${source} is empty. Write a name between the braces, for example {{trigger.output}}.`);
  let position = at === -1 ? inner.length : at;
  while (position < inner.length) {
    PATH_PART.lastIndex = position;
    const match = PATH_PART.exec(inner);
    if (!match) return fault(`${source} cannot be read after "${inner.slice(0, position)}". Use .name or [0].`);
    path.push(match[2] === undefined ? (match[1]?.trim() ?? match[3] ?? match[4] ?? "") : Number(match[2]));
    position = PATH_PART.lastIndex;
  }
  if (path.length === 0) return fault(`${source} needs a part after the name, for example {{${head}.output}}.`);
  return { source, head, path, start, end };
}

/** Splits a template into plain text and references. Never throws: an unreadable reference carries a `fault`. */
export function parseTemplate(template: string): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let last = 0;
  for (const match of template.matchAll(/\{\{[^{}]*\}\}/g)) {
    if (match.index > last) parts.push({ text: template.slice(last, match.index) });
    last = match.index + match[0].length;
    parts.push({ reference: parseReference(match[0], match.index, last) });
  }
  if (last < template.length) parts.push({ text: template.slice(last) });
  return parts;
}

/** Every reference of a template, in order. */
export const referencesOf = (template: string): Reference[] =>
  parseTemplate(template).flatMap((part) => ("reference" in part ? [part.reference] : []));

/** The name under which a run reads the project's secrets: `{{credentials.NAME}}`. */
export const CREDENTIALS = "credentials";

/** `Research Agent` and `research-agent` are both `research_agent`. */
export const slugOf = (name: string): string =>
  name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "");

/** The credential that a reference names, or undefined for one that reads something else. */
export const credentialOf = ({ head, path }: Reference): string | undefined =>
  slugOf(head) === CREDENTIALS && path.length ? String(path[0]) : undefined;

/** The entry whose name is `name` exactly, else the first whose slug is the same. */
export function matchName<Entry extends { name: string }>(entries: readonly Entry[], name: string): Entry | undefined {
  const slug = slugOf(name);
  return entries.find((entry) => entry.name === name) ?? entries.find((entry) => slug !== "" && slugOf(entry.name) === slug);
}

function distance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const change = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** The name that was probably meant, or undefined when none is near. */
export function nearestName(names: readonly string[], wanted: string): string | undefined {
  const slug = slugOf(wanted);
  const ranked = names.map((name) => ({ name, far: distance(slugOf(name), slug) })).sort((a, b) => a.far - b.far);
  const best = ranked[0];
  return best && best.far <= Math.max(2, Math.floor(slug.length / 3)) ? best.name : undefined;
}

/** " Did you mean {{x.…}}?" or the list of what there is. */
export function suggestion(names: readonly string[], wanted: string): string {
  const near = nearestName(names, wanted);
  if (near) return ` Did you mean "${near}"?`;
  return names.length ? ` There ${names.length === 1 ? "is" : "are"}: ${names.slice(0, 8).join(", ")}.` : "";
}

/** Thrown when a template cannot be resolved; the text says which expression and why. */
export class ExpressionError extends Error {
  override name = "ExpressionError";
}

/** What a name stands for: its fields by the first part of the path. `output` is text that may hold JSON. */
export interface ScopeEntry {
  name: string;
  fields: Record<string, unknown>;
  /** True when a field is one text, which no path goes into. */
  isFlat?: boolean;
  /** True for a node that was skipped: it reads as empty text, and so does whatever would be in it. */
  isSkipped?: boolean;
}

export interface Scope {
  /** What answers to a name: matched exactly, then by slug. */
  find(name: string): ScopeEntry | undefined;
  /** Every name, for a suggestion. */
  names(): string[];
  /** Reads JSON text; a run remembers what it has read, since a loop reads the same again and again. */
  parse?(text: string): unknown;
}

/** A scope of a few fixed entries. */
export const scopeOf = (entries: readonly ScopeEntry[]): Scope => ({
  find: (name) => matchName(entries, name),
  names: () => entries.map((entry) => entry.name),
});

/** Follows a path into a value; text is read as JSON when a path goes into it. */
function follow(value: unknown, path: readonly PathPart[], reference: Reference, parse: (text: string) => unknown): unknown {
  let current = value;
  for (const [index, part] of path.entries()) {
    if (typeof current === "string") {
      try {
        current = parse(current);
      } catch {
        throw new ExpressionError(`${reference.source} reads into text that is not JSON. It begins: ${String(current).slice(0, 80)}`);
      }
    }
    const container: unknown = current;
    const isKnown = container !== null && typeof container === "object" && Object.hasOwn(container, part);
    if (!isKnown) {
      const where = [reference.head, reference.path[0], ...path.slice(0, index)].join(".");
      const names = container !== null && typeof container === "object" && !Array.isArray(container) ? Object.keys(container) : [];
      throw new ExpressionError(
        `${reference.source}: ${where} has no ${typeof part === "number" ? `item ${part}` : `"${part}"`}.${suggestion(names, String(part))}`,
      );
    }
    current = (container as Record<PathPart, unknown>)[part];
  }
  return current;
}

/** What is wrong with a path into a secret: parts of it would not be recognised where they must be masked. */
export const flatFault = ({ source, head, path }: Reference): string =>
  `${source} reads a part of a credential, and a credential is one text. Write {{${head}.${path[0]}}}.`;

/**
 * The value of one reference.
 * @throws ExpressionError for an unknown name, an unknown field, or a path into something that is not there
 */
export function resolveReference(reference: Reference, scope: Scope): unknown {
  if (reference.fault) throw new ExpressionError(reference.fault);
  const entry = scope.find(reference.head);
  if (!entry) throw new ExpressionError(`${reference.source} names nothing that has run.${suggestion(scope.names(), reference.head)}`);
  const [field, ...rest] = reference.path;
  const key = String(field);
  if (entry.isFlat && rest.length) throw new ExpressionError(flatFault(reference));
  if (!Object.hasOwn(entry.fields, key))
    throw new ExpressionError(`${reference.source}: ${entry.name} has no "${key}".${suggestion(Object.keys(entry.fields), key)}`);
  if (entry.isSkipped) return "";
  return follow(entry.fields[key], rest, reference, scope.parse ?? parseJson);
}

/** Text form of a value: text as it is, nothing as empty, all else as compact JSON. */
export const asText = (value: unknown): string =>
  typeof value === "string" ? value : value === undefined || value === null ? "" : JSON.stringify(value);

/**
 * A template as text.
 * @throws ExpressionError as resolveReference does, and before the text gets longer than a node may work with
 */
export function resolveText(template: string | readonly TemplatePart[], scope: Scope): string {
  let whole = "";
  for (const part of typeof template === "string" ? parseTemplate(template) : template) {
    const text = "text" in part ? part.text : asText(resolveReference(part.reference, scope));
    const length = whole.length + text.length;
    if (length > MAX_OUTPUT) throw new ExpressionError(tooLong(length));
    whole += text;
  }
  return whole;
}

/**
 * A template's value: of a single expression with nothing around it the value itself, otherwise text.
 * @throws ExpressionError as resolveReference does
 */
export function resolveValue(template: string, scope: Scope): unknown {
  const parts = parseTemplate(template.trim());
  const [only] = parts;
  return parts.length === 1 && only && "reference" in only ? resolveReference(only.reference, scope) : resolveText(template, scope);
}
