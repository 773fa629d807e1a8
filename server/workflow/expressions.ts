// Parses {{expressions}} and the names in them. Pure and browser-safe: the run, the checks at save and the editor's autocomplete use
// the same code (specification, Workflow node types; contract, section 4).

import { shorten } from "#server/shared/shorten.ts";
import { eachExpression } from "#server/workflow/expression-scan.ts";
import { callFault, type FilterCall, filterNamed, filters, MOST_FILTERS, readFilters } from "#server/workflow/filters.ts";

export type PathPart = string | number;

/** One `{{…}}`: `head` is the name that it begins with, `path` what follows. */
export interface Reference {
  source: string;
  head: string;
  path: PathPart[];
  /** Where in `source` the path begins; its length when there is none. */
  pathAt: number;
  /** What is done with the value, in order: `{{… | trim | upper}}`. */
  filters: FilterCall[];
  /** Offsets of the whole `{{…}}` in the template. */
  start: number;
  end: number;
  /** Set when the text between the braces cannot be read. */
  fault?: string;
}

/** A piece of plain text or a reference. `written` is set where the template says it otherwise: `\{{name}}` is the text `{{name}}`. */
export type TemplatePart = { text: string; written?: string } | { reference: Reference };

/** Returns a part as the template has it; those of all parts together are the template. */
export const writtenOf = (part: TemplatePart): string => ("reference" in part ? part.reference.source : (part.written ?? part.text));

/** Bounds of texts that repeat what an author wrote: one name, one reference, and the whole sentence. */
const MAX_SHOWN_NAME = 60;
const MAX_SHOWN_SOURCE = 120;
export const MAX_FAULT_LENGTH = 500;

/** Shortens a name for a message. */
export const shownName = (name: string): string => shorten(name, MAX_SHOWN_NAME);

/** Shortens a reference for a message. */
export const shownSource = ({ source }: Pick<Reference, "source">): string => shorten(source, MAX_SHOWN_SOURCE);

const PATH_PART = /\.([^.[\]|]+)|\[(\d+)\]|\[\s*(?:"((?:[^"\\]|\\[\s\S])*)"|'((?:[^'\\]|\\[\s\S])*)')\s*\]/y;

/** A quoted step as it reads: a backslash hides a quote or another one, and stands for itself before anything else. */
const unquoted = (text: string): string => text.replace(/\\(["'\\])/g, "$1");

/** Whether something of the workflow is called so. */
export type IsName = (text: string) => boolean;

/** No name is longer, blanks after it included. */
const LONGEST_NAME = 200;

/** Where a name may end: at each dot and bracket. */
const endsOfName = (inner: string): number[] => [...inner.slice(0, LONGEST_NAME).matchAll(/[.[]/g)].map(({ index }) => index);

/**
 * The end of the longest name that is followed by a dot or a bracket (contract, section 4), or -1 when the whole is one.
 * Without any name that fits, what stands before the first dot counts as the name.
 */
function endOfName(inner: string, isName: IsName | undefined): number {
  const [first = -1, ...further] = endsOfName(inner);
  if (!isName || first === -1) return first;
  const name = (end: number) => inner.slice(0, end).trim();
  const longest = further.findLast((end) => isName(name(end)));
  if (longest !== undefined) return longest;
  // A name without anything after it reads nothing, so it is only meant when there is no other.
  return !isName(name(first)) && inner.length <= LONGEST_NAME && isName(inner) ? -1 : first;
}

function parseReference(source: string, start: number, end: number, isName?: IsName): Reference {
  const inner = source.slice(2, -2).trim();
  const at = endOfName(inner, isName);
  const head = (at === -1 ? inner : inner.slice(0, at)).trim();
  const path: PathPart[] = [];
  const pathAt = at === -1 ? source.length : source.indexOf(inner, 2) + at;
  const calls: FilterCall[] = [];
  const shown = shownSource({ source });
  const fault = (message: string): Reference => {
    return { source, head, path, pathAt, filters: calls, start, end, fault: shorten(message, MAX_FAULT_LENGTH) };
  };
  if (head === "") return fault(`${shown} is empty. Write a name between the braces, for example {{trigger.output}}.`);
  let position = at === -1 ? inner.length : at;
  while (position < inner.length) {
    PATH_PART.lastIndex = position;
    const match = PATH_PART.exec(inner);
    if (!match && /^\s*\|/.test(inner.slice(position))) {
      const found = readFilters(inner, position);
      calls.push(...found.calls);
      if (found.end < inner.length)
        return fault(`${shown} cannot be read after "${shownName(inner.slice(0, found.end))}". Use | name or | name("value").`);
      break;
    }
    if (!match) return fault(`${shown} cannot be read after "${shownName(inner.slice(0, position))}". Use .name or [0].`);
    path.push(match[2] === undefined ? (match[1]?.trim() ?? unquoted(match[3] ?? match[4] ?? "")) : Number(match[2]));
    position = PATH_PART.lastIndex;
  }
  if (path.length === 0) return fault(`${shown} needs a part after the name, for example {{${shownName(head)}.output}}.`);
  const wrong = filterFault(calls);
  return wrong === undefined ? { source, head, path, pathAt, filters: calls, start, end } : fault(`${shown}: ${wrong}`);
}

/** The first filter that there is not, or that is not called as it must be. */
function filterFault(calls: readonly FilterCall[]): string | undefined {
  if (calls.length > MOST_FILTERS) return `at most ${MOST_FILTERS} filters may follow one value. Use a code node for more.`;
  for (const call of calls) {
    const names = filters.map(({ name }) => name);
    if (!filterNamed(call.name)) return `there is no filter "${shownName(call.name)}".${suggestion(names, call.name, names.length)}`;
    const wrong = callFault(call);
    if (wrong !== undefined) return `${wrong}.`;
  }
  return undefined;
}

/** How many dots and brackets a name is thought to have by those who do not know it. */
const MOST_PARTS = 6;

/** A reference by every name that it could begin with, the shortest first: for callers that do not know the names. */
export function possibleReadings({ source, start, end }: Reference): Reference[] {
  const inner = source.slice(2, -2).trim();
  return endsOfName(inner)
    .slice(0, MOST_PARTS)
    .map((stop) => parseReference(source, start, end, (text) => text === inner.slice(0, stop).trim()))
    .filter(({ path }) => path.length > 0);
}

/** Reads the references of a template one at a time, so that the caller can stop or yield between them. */
export function* eachReference(template: string, isName?: IsName): Generator<Reference> {
  for (const { source, start, end, isEscaped } of eachExpression(template))
    if (!isEscaped) yield parseReference(source, start, end, isName);
}

/**
 * Splits a template into plain text and references. Never throws: an unreadable reference carries a `fault`.
 * @param isName what the workflow's names are; left out, no name has a dot or a bracket in it
 */
export function parseTemplate(template: string, isName?: IsName): TemplatePart[] {
  const parts: TemplatePart[] = [];
  let last = 0;
  for (const { source, start, end, isEscaped } of eachExpression(template)) {
    const plainEnd = isEscaped ? start - 1 : start;
    if (plainEnd > last) parts.push({ text: template.slice(last, plainEnd) });
    parts.push(isEscaped ? { text: source, written: `\\${source}` } : { reference: parseReference(source, start, end, isName) });
    last = end;
  }
  if (last < template.length) parts.push({ text: template.slice(last) });
  return parts;
}

/** Every reference of a template, in order. */
export const referencesOf = (template: string, isName?: IsName): Reference[] =>
  parseTemplate(template, isName).flatMap((part) => ("reference" in part ? [part.reference] : []));

/** The name under which a run reads the project's secrets: `{{credentials.NAME}}`. */
export const CREDENTIALS = "credentials";

/** Names that mean something else than a node, whatever nodes and agents are called. */
export const RESERVED_NAMES: readonly string[] = ["trigger", "execution", CREDENTIALS];

/** True for a name of a node or an agent that no expression could read. */
export const isReserved = (name: string): boolean => RESERVED_NAMES.includes(name.trim());

/** `Research Agent` and `research-agent` are both `research_agent`. */
export const slugOf = (name: string): string =>
  name
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_|_$/g, "");

/** A name in parts between its dots and brackets, each as a slug: `GPT-4.1 Writer` is `gpt_4.1_writer`. */
export const partsOf = (name: string): string =>
  name
    .split(/[.[\]]+/)
    .map(slugOf)
    .join(".");

/** Tells names from other text where some have dots or brackets in them; undefined where none has, and nothing is to be told. */
export function isNameOf(names: readonly string[]): IsName | undefined {
  if (!names.some((name) => /[.[]/.test(name))) return undefined;
  const known = new Set(names.flatMap((name) => [name, slugOf(name), partsOf(name)]));
  return (text) => known.has(text) || known.has(partsOf(text));
}

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

/** Longest name that is compared, and most names that one is compared with: the comparison takes the product of their lengths. */
const MAX_COMPARED_LENGTH = 60;
const MAX_CANDIDATES = 200;

/** Slug for a comparison; a few letters have a normal form that is 18 times as long. */
const comparedSlug = (name: string): string => slugOf(name).slice(0, MAX_COMPARED_LENGTH);

/** Returns the closest of the first 200 names of at most 60 characters, or undefined when none is close or `wanted` is longer. */
export function nearestName(names: readonly string[], wanted: string): string | undefined {
  if (wanted.length > MAX_COMPARED_LENGTH) return undefined;
  const slug = comparedSlug(wanted);
  let best: string | undefined;
  let shortest = Math.max(2, Math.floor(slug.length / 3)) + 1;
  let candidates = 0;
  for (const name of names) {
    if (name.length > MAX_COMPARED_LENGTH) continue;
    if (++candidates > MAX_CANDIDATES) break;
    const far = distance(comparedSlug(name), slug);
    if (far < shortest) [best, shortest] = [name, far];
  }
  return best;
}

/** What a reference that names nothing was probably meant to name: " Did you mean …?", or the list of what there is. */
export function suggestionFor(names: readonly string[], reference: Reference): string {
  const heads = possibleReadings(reference).map(({ head }) => head);
  return suggestion(names, heads.findLast((head) => nearestName(names, head) !== undefined) ?? reference.head);
}

/** Returns " Did you mean …?" or a list of at most `most` names, each shortened. */
export function suggestion(names: readonly string[], wanted: string, most = 8): string {
  const near = nearestName(names, wanted);
  if (near) return ` Did you mean "${near}"?`;
  return names.length ? ` There ${names.length === 1 ? "is" : "are"}: ${names.slice(0, most).map(shownName).join(", ")}.` : "";
}
