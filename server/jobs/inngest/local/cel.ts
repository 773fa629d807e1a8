import { type ASTNode, Environment, type ParseResult } from "@marcbachmann/cel-js";
import { messageOf } from "#server/platform/errors.ts";

export interface CelContext {
  /** The event that started the run, or the one that a trigger looks at. */
  event: unknown;
  /** The event that has just come, for waits and cancellations. */
  async?: unknown;
}

/** One equality that must hold for an event to meet a wait, so that the database can find it by index. */
export interface WaitKey {
  /** "path=value", "" when every event of the name must be looked at, NEVER when none can match. */
  key: string;
  /** True when nothing but the key must hold. */
  exact: boolean;
}

const NEVER = "\u0001";
// Between the names of a path; a dot may be part of a name.
const SEP = "\u0002";
const MAX_LEAVES = 200;
const MAX_VALUE = 300;

const environment = new Environment({ unlistedVariablesAreDyn: true, homogeneousAggregateLiterals: false });
const parsed = new Map<string, ParseResult | null>();

/** Expressions often carry ids as literals, so the cache is bounded by dropping the oldest. */
function parse(expression: string): ParseResult | null {
  const known = parsed.get(expression);
  if (known !== undefined) return known;
  let result: ParseResult | null = null;
  try {
    result = environment.parse(expression);
  } catch {
    // An expression that cannot be read matches nothing.
  }
  if (parsed.size >= 1000) parsed.delete(parsed.keys().next().value ?? "");
  parsed.set(expression, result);
  return result;
}

/** Says why an expression cannot be used, or undefined. */
export function celProblem(expression: string): string | undefined {
  try {
    environment.parse(expression);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}

/** True when the expression holds. A missing attribute or a wrong type makes it false. */
export function holds(expression: string | null | undefined, context: CelContext): boolean {
  if (!expression) return true;
  try {
    return parse(expression)?.({ ...context }) === true;
  } catch {
    return false;
  }
}

/** The value of a key expression as text (`"a"` and `1` differ), or undefined when it has none. */
export function keyText(expression: string, event: unknown): string | undefined {
  try {
    const value: unknown = parse(expression)?.({ event });
    if (value === undefined) return undefined;
    return JSON.stringify(value, (_key, part: unknown) => (typeof part === "bigint" ? Number(part) : part));
  } catch {
    return undefined;
  }
}

/** The path of `event.data.x` or `async.data['x']`, root first. */
function pathOf(node: ASTNode): string[] | undefined {
  if (node.op === "id") return [String(node.args)];
  if (node.op !== "." && node.op !== "[]") return undefined;
  const [object, member] = node.args;
  const head = pathOf(object);
  if (!head) return undefined;
  if (typeof member === "string") return [...head, member];
  return member.op === "value" && typeof member.args === "string" ? [...head, member.args] : undefined;
}

function scalarText(value: unknown): string | undefined {
  if (typeof value === "bigint") return JSON.stringify(Number(value));
  if (value === null || typeof value === "boolean" || typeof value === "number") return JSON.stringify(value);
  if (typeof value === "string" && value.length <= MAX_VALUE) return JSON.stringify(value);
  return undefined;
}

function equalityKey(node: ASTNode, event: unknown): string | undefined {
  if (node.op !== "==") return undefined;
  const [left, right] = node.args as [ASTNode, ASTNode];
  for (const [coming, other] of [
    [left, right],
    [right, left],
  ] as const) {
    const path = pathOf(coming);
    if (path?.[0] !== "async") continue;
    const from = pathOf(other);
    let value: unknown;
    if (other.op === "value") value = other.args;
    else if (from?.[0] === "event") {
      value = from.slice(1).reduce<unknown>((at, name) => (at && typeof at === "object" ? Reflect.get(at, name) : undefined), event);
      if (value === undefined) return NEVER;
    } else continue;
    const text = scalarText(value);
    return text === undefined ? undefined : `${path.slice(1).join(SEP)}=${text}`;
  }
  return undefined;
}

/**
 * The key under which a wait or cancellation is stored.
 * @param expression CEL over `event` (what started the run) and `async` (what comes)
 */
export function waitKey(expression: string | null | undefined, event: unknown): WaitKey {
  if (!expression) return { key: "", exact: true };
  const ast = parse(expression)?.ast;
  if (!ast) return { key: NEVER, exact: true };
  const whole = equalityKey(ast, event);
  if (whole !== undefined) return { key: whole, exact: true };
  const parts: ASTNode[] = [ast];
  for (let part = parts.shift(); part; part = parts.shift()) {
    if (part.op === "&&") parts.push(...(part.args as [ASTNode, ASTNode]));
    const key = equalityKey(part, event);
    if (key !== undefined) return { key, exact: key === NEVER };
  }
  return { key: "", exact: false };
}

/**
 * Every key that an event can meet: "" and "path=value" of its scalar leaves.
 * @returns undefined when the event is too large to list them, so that each wait must be looked at
 */
export function eventKeys(event: Record<string, unknown>): string[] | undefined {
  const keys = [""];
  const walk = (value: unknown, path: string, depth: number): boolean => {
    if (value && typeof value === "object") {
      if (Array.isArray(value)) return true;
      if (depth > 8) return false;
      // PostgreSQL cannot hold such names, and no wait can ask for them.
      const entries = Object.entries(value).filter(([name]) => name.isWellFormed() && !name.includes("\u0000"));
      return entries.every(([name, inner]) => walk(inner, path ? `${path}${SEP}${name}` : name, depth + 1));
    }
    const text = scalarText(value);
    if (text !== undefined) keys.push(`${path}=${text}`);
    return keys.length <= MAX_LEAVES;
  };
  return walk(event, "", 0) ? keys : undefined;
}
