import { createContext, Script } from "node:vm";
import { jsonpath } from "json-p3";
import { messageOf } from "#server/platform/errors.ts";

// RFC 9535. Expressions in {{braces}} have paths of their own, which begin at a node.

/** Why a path cannot be read, as a sentence, or undefined. An empty path means the whole payload. */
export function pathFault(path: string): string | undefined {
  if (path.trim() === "") return undefined;
  try {
    jsonpath.compile(path.trim());
    return undefined;
  } catch (error) {
    const reason = messageOf(error);
    return `The payload path is no JSONPath: ${reason}. It begins with $, for example $.issue.title.`;
  }
}

/** Longest that following a path may take, in milliseconds: paths can be written that double the work at each step. */
const LONGEST_MS = 200;

const runner = new Script("work()");
const context = createContext({});

/** Runs something that must not hold up the process; only node:vm can stop code that does not give way. */
function withinTime<Result>(work: () => Result): Result {
  context.work = work;
  try {
    return runner.runInContext(context, { timeout: LONGEST_MS }) as Result;
  } finally {
    delete context.work;
  }
}

/**
 * The part of a payload that a path leads to. The path alone says of what shape that is (decisions/0015): one that names a
 * single place (a singular query, RFC 9535, section 2.3.5.1) gives the value there, undefined when there is none; one that
 * may find several gives a list, of one match and of none too.
 * @param path a JSONPath that `pathFault` found nothing wrong with; empty for the whole payload
 * @throws Error when the payload is nested too deeply or the path takes too long in it
 */
export function atPath(payload: unknown, path: string): unknown {
  if (path.trim() === "") return payload;
  // Filters compare numbers; long ones, which are kept exactly, are none to them. So a plain copy says where, and the payload what.
  const plain = JSON.parse(JSON.stringify(payload)) as Parameters<typeof jsonpath.query>[1];
  const query = jsonpath.compile(path.trim());
  const places = withinTime(() => query.query(plain).nodes.map(({ location }) => location));
  const values = places.map((place) => place.reduce<unknown>((part, key) => Reflect.get(Object(part), key), payload));
  return query.singularQuery() ? values[0] : values;
}

/** A value as the text that a trigger gives: text as it is, anything else as compact JSON. */
export const asText = (value: unknown): string => (typeof value === "string" ? value : JSON.stringify(value));
