import { type Expression as Code, type PrivateIdentifier, parseExpressionAt, type SpreadElement, type Super } from "acorn";
import { CREDENTIALS, type PathPart } from "#server/workflow/expressions.ts";

// What the expressions of n8n, which are JavaScript as acorn parses it, have in common with ours: reading a value, shaping it as a
// filter does, putting texts together. Anything else is left to a person.

/** What a name of n8n stands for here: `{{head.field.path}}`. */
export interface Reading {
  head: string;
  field: string;
  path: readonly PathPart[];
}

/** Where something is read: what came to a node, what a node of this name gave, or something that the whole run has. */
export type Place =
  | { of: "input" }
  | { of: "node"; name: string }
  | { of: "run" }
  | { of: "resume" }
  | { of: "index" }
  | { of: "secret"; name: string };

/** What is to be read in place of a place and a path; undefined where nothing here holds that. */
export type Find = (place: Place, path: readonly PathPart[]) => Reading | undefined;

export type Literal = string | number | boolean | null;
/** An expression that means the same here. */
export type Expression =
  | { kind: "literal"; value: Literal }
  | { kind: "read"; reading: Reading }
  | { kind: "filter"; value: Expression; name: string; args: readonly Literal[] }
  | { kind: "sum"; parts: readonly Expression[] }
  | { kind: "object"; entries: readonly (readonly [string, Expression])[] }
  | { kind: "list"; items: readonly Expression[] };

/** Longer ones are programs. */
const MOST_CHARACTERS = 4000;
const MOST_DEPTH = 40;

/** Thrown for what only JavaScript can say: one for all, since a file may hold very many of it. */
export const UNCONVERTED = new Error("Only JavaScript can say this.");
export const unconverted = (): never => {
  throw UNCONVERTED;
};

/** The signs of Luxon's formats that Python's strftime has too. */
const DATE_SIGNS: Readonly<Record<string, string>> = {
  yyyy: "%Y",
  ...{ yy: "%y", MM: "%m", dd: "%d", HH: "%H", hh: "%I", mm: "%M", ss: "%S", a: "%p" },
  ...{ cccc: "%A", EEEE: "%A", ccc: "%a", EEE: "%a", LLLL: "%B", MMMM: "%B", LLL: "%b", MMM: "%b" },
};
const dateFormat = (luxon: string): string =>
  luxon.replace(/[A-Za-z]+|%/g, (sign) => (Object.hasOwn(DATE_SIGNS, sign) ? (DATE_SIGNS[sign] as string) : unconverted()));

interface Method {
  name: string;
  args?(given: readonly Literal[]): readonly Literal[];
}
const keeps = (count: number) => (given: readonly Literal[]) => (given.length <= count ? given : unconverted());
const none = { args: keeps(0) };
const formats = { name: "date", args: ([format]: readonly Literal[]) => [typeof format === "string" ? dateFormat(format) : unconverted()] };
const cuts = { name: "slice", args: keeps(2) };
/** Methods that a filter stands for. */
const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["toUpperCase", { name: "upper", ...none }],
  ["toLowerCase", { name: "lower", ...none }],
  ["trim", { name: "trim", ...none }],
  ["first", { name: "first", ...none }],
  ["last", { name: "last", ...none }],
  ["keys", { name: "keys", ...none }],
  ["toJsonString", { name: "json", ...none }],
  ["join", { name: "join", args: (given) => (given.length ? keeps(1)(given) : [","]) }],
  ["split", { name: "split", args: (given) => (given.length ? keeps(1)(given) : unconverted()) }],
  ["replaceAll", { name: "replace", args: (given) => (given.length === 2 ? given : unconverted()) }],
  ["slice", cuts],
  ["round", { name: "round", args: keeps(1) }],
  ["toFormat", formats],
  ["format", formats],
]);
/** Functions around a value that a filter stands for, or nothing at all where text is text anyway. */
const FUNCTIONS: ReadonlyMap<string, string | null> = new Map([
  ["JSON.stringify", "json"],
  ["Object.keys", "keys"],
  ["Math.round", "round"],
  ["String", null],
  ["Number", null],
  ["DateTime.fromISO", null],
]);

/** Any piece of JavaScript that may stand where an expression is read. */
type Piece = Code | PrivateIdentifier | SpreadElement | Super | null;

/** What a literal says: text, number, true, false or null; undefined for any other code. */
function literalOf(code: Piece): Literal | undefined {
  if (code?.type === "ChainExpression" || code?.type === "ParenthesizedExpression") return literalOf(code.expression);
  if (code?.type === "Identifier" && code.name === "undefined") return null;
  if (code?.type === "UnaryExpression" && code.operator === "-") {
    const number = literalOf(code.argument);
    return typeof number === "number" ? -number : undefined;
  }
  if (code?.type !== "Literal" || code.regex || typeof code.value === "bigint") return undefined;
  return code.value as Literal; // cast: regular expressions and long numbers are ruled out
}

/** `name` of `.name`, `["name"]` and `[0]`. */
function partOf(code: Piece): PathPart | undefined {
  if (code?.type !== "MemberExpression") return undefined;
  if (!code.computed) return code.property.type === "Identifier" ? code.property.name : undefined;
  const part = literalOf(code.property);
  return typeof part === "string" || typeof part === "number" ? part : undefined;
}

/** The arguments of a call of something with this name, alone or as a method; undefined for any other code. */
function callOf(code: Piece, ...names: string[]): { of: Piece; name: string; args: readonly Literal[] } | undefined {
  if (code?.type !== "CallExpression" || code.optional) return undefined;
  const { callee } = code;
  const name = callee.type === "Identifier" ? callee.name : callee.type === "MemberExpression" && !callee.computed ? partOf(callee) : "";
  if (typeof name !== "string" || !names.includes(name)) return undefined;
  const args = code.arguments.map((argument) => literalOf(argument) ?? (literalOf(argument) === null ? null : unconverted()));
  return { of: callee.type === "MemberExpression" ? callee.object : null, name, args };
}

/** The `$` name that a piece of code is; `$item(0).$json` is `$json`: a node here gives one value. */
function globalOf(code: Piece): string | undefined {
  if (code?.type === "Identifier") return code.name;
  const name = code?.type === "MemberExpression" && callOf(code.object, "$item") ? partOf(code) : undefined;
  return typeof name === "string" && name.startsWith("$") ? name : undefined;
}

/** The node whose items these are: `$("Name")`, or `$input` for what came; undefined for any other code. */
function itemsOf(code: Piece): Place | undefined {
  if (globalOf(code) === "$input") return { of: "input" };
  const name = callOf(code, "$")?.args[0];
  return typeof name === "string" ? { of: "node", name } : undefined;
}

/** What `.json` of a piece of code is the JSON of: `$input.item`, `$("Name").first()`, `.all()[0]`, `$node["Name"]`, `$items("Name")[0]`. */
function itemOf(code: Piece): Place | undefined {
  if (code?.type === "CallExpression") return itemsOf(callOf(code, "first", "last", "itemMatching")?.of ?? null);
  if (code?.type !== "MemberExpression") return undefined;
  const part = partOf(code);
  if (globalOf(code.object) === "$node") return typeof part === "string" ? { of: "node", name: part } : undefined;
  if (part === "item") return itemsOf(code.object);
  if (typeof part !== "number") return undefined;
  const all = callOf(code.object, "all");
  if (all) return itemsOf(all.of);
  const items = callOf(code.object, "$items");
  if (!items) return undefined;
  return typeof items.args[0] === "string" ? { of: "node", name: items.args[0] } : { of: "input" };
}

/** Where a piece of code reads, when it is the whole of that: `$json`, `$env.KEY`, `$execution.id` and what `itemOf` knows. */
function placeOf(code: Piece): Place | undefined {
  const name = globalOf(code);
  if (name !== undefined) return name === "$json" ? { of: "input" } : name === "$itemIndex" ? { of: "index" } : undefined;
  if (code?.type !== "MemberExpression") return undefined;
  const part = partOf(code);
  const owner = globalOf(code.object);
  if (owner === "$env" || owner === "$vars") return typeof part === "string" ? { of: "secret", name: part } : undefined;
  if (owner === "$execution") return part === "id" ? { of: "run" } : part === "resumeUrl" ? { of: "resume" } : undefined;
  return part === "json" ? itemOf(code.object) : undefined;
}

/** The place that a piece of code reads, and the path in it. */
function readOf(code: Piece): { place: Place; path: PathPart[] } | undefined {
  const place = placeOf(code);
  if (place) return { place, path: [] };
  if (code?.type !== "MemberExpression") return undefined;
  const before = readOf(code.object);
  const part = partOf(code);
  return before && part !== undefined ? { place: before.place, path: [...before.path, part] } : undefined;
}

/** The name of a function: `String`, `JSON.stringify`. */
function functionOf(callee: Piece): string {
  if (callee?.type === "Identifier") return callee.name;
  return callee?.type === "MemberExpression" && callee.object.type === "Identifier" ? `${callee.object.name}.${partOf(callee)}` : "";
}

/** Texts that are put together; a sum of numbers is no text. */
function sumOf(code: Code, find: Find, depth: number): Expression {
  const parts: Expression[] = [];
  let rest = code;
  for (; rest.type === "BinaryExpression" && rest.operator === "+"; rest = rest.left as Code)
    parts.unshift(convert(rest.right, find, depth)); // cast: only `in` has a private name there
  parts.unshift(convert(rest, find, depth));
  const isText = parts.some((part) => part.kind === "sum" || (part.kind === "literal" && typeof part.value === "string"));
  return isText ? { kind: "sum", parts } : unconverted();
}

/** `a || "none"` and `a ?? "none"`. */
function defaultOf(value: Expression, other: Expression): Expression {
  // A credential is one text: nothing can be said of what it is not.
  if (value.kind === "read" && value.reading.head === CREDENTIALS) return value;
  if (other.kind !== "literal" || (value.kind !== "read" && value.kind !== "filter")) return unconverted();
  return { kind: "filter", value, name: "default", args: [other.value] };
}

/** What is done with a value: functions around it and methods that are filters here. */
function callOn(code: Extract<Code, { type: "CallExpression" }>, find: Find, depth: number): Expression {
  if (code.optional) return unconverted();
  const around = FUNCTIONS.get(functionOf(code.callee));
  if (around !== undefined) {
    const [value, ...further] = code.arguments.map((argument) => convert(argument, find, depth));
    // JSON.stringify(value, null, 2) only writes it wider.
    if (!value || (further.length && around !== "json")) return unconverted();
    if (around === null || value.kind === "object" || value.kind === "list") return value;
    return { kind: "filter", value, name: around, args: [] };
  }
  if (code.callee.type !== "MemberExpression" || code.callee.computed) return unconverted();
  const value = convert(code.callee.object, find, depth);
  const name = String(partOf(code.callee));
  const given = callOf(code, name)?.args ?? unconverted();
  if (name === "toString" || name === "toDateTime") return value;
  const method = METHODS.get(name) ?? unconverted();
  return { kind: "filter", value, name: method.name, args: method.args?.(given) ?? given };
}

function entryOf(property: Extract<Code, { type: "ObjectExpression" }>["properties"][number], find: Find, depth: number) {
  if (property.type !== "Property" || property.kind !== "init" || property.computed || property.shorthand) return unconverted();
  const key = property.key.type === "Identifier" ? property.key.name : literalOf(property.key);
  return typeof key === "string" ? ([key, convert(property.value, find, depth)] as const) : unconverted();
}

/** @throws UNCONVERTED */
function convert(code: Piece, find: Find, depth: number): Expression {
  if (depth > MOST_DEPTH || !code) return unconverted();
  const value = literalOf(code);
  if (value !== undefined) return { kind: "literal", value };
  const next = depth + 1;
  switch (code.type) {
    case "ParenthesizedExpression":
    case "ChainExpression":
      return convert(code.expression, find, next);
    case "LogicalExpression":
      return code.operator === "&&" ? unconverted() : defaultOf(convert(code.left, find, next), convert(code.right, find, next));
    case "BinaryExpression":
      return code.operator === "+" ? sumOf(code, find, next) : unconverted();
    case "TemplateLiteral": {
      const parts = code.quasis.flatMap(({ value: { cooked } }, index): Expression[] => [
        ...(cooked ? [{ kind: "literal", value: cooked } as const] : []),
        ...(index < code.expressions.length ? [convert(code.expressions[index] ?? null, find, next)] : []),
      ]);
      return { kind: "sum", parts };
    }
    case "ObjectExpression":
      return { kind: "object", entries: code.properties.map((property) => entryOf(property, find, next)) };
    case "ArrayExpression":
      return { kind: "list", items: code.elements.map((item) => convert(item, find, next)) };
    case "CallExpression":
      return callOn(code, find, next);
    case "Identifier":
    case "MemberExpression": {
      if (code.type === "MemberExpression" && !code.computed && partOf(code) === "length")
        return { kind: "filter", value: convert(code.object, find, next), name: "length", args: [] };
      const read = readOf(code);
      const reading = read && find(read.place, read.path);
      return reading ? { kind: "read", reading } : unconverted();
    }
    default:
      return unconverted();
  }
}

/** JavaScript as acorn reads it. @throws UNCONVERTED for what is none, and for what nests too deep to be read */
function parsed(text: string): Code {
  try {
    const code = parseExpressionAt(text, 0, { ecmaVersion: "latest", preserveParens: true });
    if (text.slice(code.end).trim() === "") return code;
  } catch {
    // told below, as everything that is left to a person
  }
  return unconverted();
}

/** @throws UNCONVERTED for what cannot be said here */
export const parse = (code: string, find: Find): Expression =>
  code.length > MOST_CHARACTERS ? unconverted() : convert(parsed(code), find, 0);
