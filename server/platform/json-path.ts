import { createContext, Script } from "node:vm";
import { jsonpath } from "json-p3";
import { LRUCache } from "lru-cache";
import { messageOf } from "#server/platform/errors.ts";

// RFC 9535. Expressions in {{braces}} have paths of their own, which begin at a node.

/**
 * Why a path cannot be read, as a sentence, or undefined. An empty path means the whole.
 * @param what it is, to begin the sentence with, and an example of one
 */
export function pathFault(path: string, what: string, example: string): string | undefined {
  if (path.trim() === "") return undefined;
  try {
    jsonpath.compile(path.trim());
    return undefined;
  } catch (error) {
    return `${what} is no JSONPath: ${messageOf(error)}. It begins with $, for example ${example}.`;
  }
}

const { FilterSelector } = jsonpath.selectors;
const { FilterQuery, FunctionExtension, InfixExpression, LogicalExpression, PrefixExpression, RootQuery } = jsonpath.expressions;
type Expression = InstanceType<typeof jsonpath.selectors.FilterSelector>["expression"]["expression"];

/** How many places one pair of brackets may name: `[0,0][0,0]…` doubles what is found at each step. */
const MOST_SELECTORS = 8;

interface Parts {
  descents: number;
  selectors: number;
  functions: string[];
  /** Of filters within filters. */
  depth: number;
  /** Something in a filter goes through the whole payload, once more for each thing that is looked at. */
  isQuadratic: boolean;
}

const isRoot = (expression: Expression) => expression instanceof RootQuery;

function partsOfExpression(expression: Expression, parts: Parts, depth: number): void {
  if (expression instanceof LogicalExpression) partsOfExpression(expression.expression, parts, depth);
  if (expression instanceof PrefixExpression) partsOfExpression(expression.right, parts, depth);
  if (expression instanceof InfixExpression) {
    const sides = [expression.left, expression.right];
    if (sides.every(isRoot)) parts.isQuadratic = true;
    for (const side of sides) partsOfExpression(side, parts, depth);
  }
  if (expression instanceof FilterQuery) {
    if (isRoot(expression) && !expression.path.singularQuery()) parts.isQuadratic = true;
    partsOfQuery(expression.path, parts, depth);
  }
  if (expression instanceof FunctionExtension) {
    parts.functions.push(expression.name);
    if (expression.args.some(isRoot)) parts.isQuadratic = true;
    for (const argument of expression.args) partsOfExpression(argument, parts, depth);
  }
}

function partsOfQuery({ segments }: jsonpath.JSONPathQuery, parts: Parts, depth: number): void {
  for (const segment of segments) {
    // Inside a filter one is followed again for each thing that is looked at.
    if (segment.toString().startsWith("..")) parts.descents += depth > 0 ? 2 : 1;
    if (segment.selectors.length > 1) parts.selectors *= segment.selectors.length;
    for (const selector of segment.selectors) {
      if (!(selector instanceof FilterSelector)) continue;
      parts.depth = Math.max(parts.depth, depth + 1);
      partsOfExpression(selector.expression, parts, depth + 1);
    }
  }
}

/**
 * Why a path may take too long to be followed again and again, as a sentence, or undefined. It is one that `pathFault` found
 * nothing wrong with.
 */
export function pathCostFault(path: string): string | undefined {
  const parts: Parts = { descents: 0, selectors: 1, functions: [], depth: 0, isQuadratic: false };
  partsOfQuery(jsonpath.compile(path.trim()), parts, 0);
  if (parts.functions.some((name) => name === "match" || name === "search"))
    return "match() and search() cannot be used here: a pattern may take for ever.";
  if (parts.descents > 1) return "Use .. once at most, and not inside a filter.";
  if (parts.selectors > MOST_SELECTORS) return `Brackets may name ${MOST_SELECTORS} places together at most.`;
  if (parts.isQuadratic) return "Of the whole, a filter may only compare one place with a part, such as @.price < $.limit.";
  if (parts.depth > 1) return "A filter cannot have another filter inside.";
  return undefined;
}

/** Longest that following a path may take, in milliseconds: paths can be written that double the work at each step. */
const LONGEST_MS = 200;

/** How much of a processor this thread has used, in milliseconds. */
export function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** How often something is begun, each time with more time, that was stopped while others had the processor. */
const TRIES = 5;
const runner = new Script("work()");
const context = createContext({});
let isTimed = false;
/** (It comes out of the other context, whose errors are none of ours.) */
const isTimeout = (error: unknown) => Object(error).code === "ERR_SCRIPT_EXECUTION_TIMEOUT";

/**
 * Runs something that must not hold up the process; only node:vm can stop code that does not give way, wherever it is: it must
 * change nothing that is used afterwards. The clock goes on while others have the processor: then it is begun anew. What follows many
 * paths is run so as a whole, for to watch one takes longer than to follow it.
 * @throws Error when it takes longer
 */
export function withinTime<Result>(work: () => Result, longestMs: number): Result {
  if (isTimed) return work();
  isTimed = true;
  context.work = work;
  try {
    for (let tries = 1; ; tries++) {
      const began = usedMs();
      try {
        return runner.runInContext(context, { timeout: longestMs * tries }) as Result;
      } catch (error) {
        if (!isTimeout(error) || usedMs() - began > longestMs / 2 || tries === TRIES) throw error;
      }
    }
  } finally {
    isTimed = false;
    delete context.work;
  }
}

const compiled = new LRUCache<string, jsonpath.JSONPathQuery>({ max: 1000 });

function queryOf(path: string): jsonpath.JSONPathQuery {
  const query = compiled.get(path) ?? jsonpath.compile(path.trim());
  compiled.set(path, query);
  return query;
}

/** Keys and indexes that lead to a part. */
export type Place = readonly (string | number)[];

const partAt = (payload: unknown, place: Place): unknown => place.reduce<unknown>((part, key) => Reflect.get(Object(part), key), payload);

/**
 * Where a path leads in a payload, in order.
 * @throws Error when the payload is nested too deeply or the path takes too long in it
 */
export const placesAt = (payload: unknown, path: string): Places => placesOf(queryOf(path), payload, LONGEST_MS);

export interface Places {
  places: Place[];
  isSingular: boolean;
}

/** Returns what `atPath` does, for places that are known. */
export function valueAtPlaces(payload: unknown, { places, isSingular }: Places): unknown {
  const values = places.map((place) => partAt(payload, place));
  return isSingular ? values[0] : values;
}

const copies = new WeakMap<object, unknown>();

/** Filters compare numbers; long ones, which are kept exactly, are none to them. So a copy says where something is, and the payload what. */
function plainOf(payload: unknown): unknown {
  if (typeof payload !== "object" || payload === null) return payload;
  const copy = copies.get(payload) ?? JSON.parse(JSON.stringify(payload));
  copies.set(payload, copy);
  return copy;
}

function placesOf(query: jsonpath.JSONPathQuery, payload: unknown, longestMs: number): Places {
  const isSingular = query.singularQuery();
  const plain = (isSingular ? payload : plainOf(payload)) as Parameters<typeof jsonpath.query>[1];
  const follow = () => query.query(plain).nodes.map(({ location }) => location);
  return { places: isSingular ? follow() : withinTime(follow, longestMs), isSingular };
}

/**
 * The part of a payload that a path leads to. The path alone says of what shape that is (decisions/0015): one that names a
 * single place (a singular query, RFC 9535, section 2.3.5.1) gives the value there, undefined when there is none; one that
 * may find several gives a list, of one match and of none too.
 * @param path a JSONPath that `pathFault` found nothing wrong with; empty for the whole payload
 * @throws Error when the payload is nested too deeply or the path takes too long in it
 */
export const atPath = (payload: unknown, path: string): unknown => follower(path)(payload);

/** `atPath` for a path that is followed in many payloads; may be called within time, where nothing is kept that others use. */
export function follower(path: string, longestMs = LONGEST_MS): (payload: unknown) => unknown {
  if (path.trim() === "") return (payload) => payload;
  const query = queryOf(path);
  return (payload) => {
    return valueAtPlaces(payload, placesOf(query, payload, longestMs));
  };
}

/** A value as the text that it is given as: text as it is, anything else as compact JSON. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
