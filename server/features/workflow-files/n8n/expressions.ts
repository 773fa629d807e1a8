import {
  type Expression,
  type Find,
  type Literal,
  parse,
  type Reading,
  UNCONVERTED,
  unconverted,
} from "#server/features/workflow-files/n8n/javascript.ts";
import { shown } from "#server/features/workflow-files/n8n/source.ts";
import { isEscapedAt, quoteText } from "#server/workflow/expression-scan.ts";
import type { PathPart } from "#server/workflow/expressions.ts";
import { pythonString } from "#server/workflow/python-string.ts";

// The expressions of n8n as ours, and as Python in conditions. What cannot be said here stays as it was written, so that a person
// sees what it said.

const withoutBraces = (text: string): string => (/[{}]/.test(text) ? unconverted() : text);

function partText(part: PathPart): string {
  if (typeof part === "number") return `[${part}]`;
  return /^[^.[\]{}|"'\s][^.[\]{}|"']*$/.test(part) && part === part.trim() ? `.${part}` : `[${quoteText(part)}]`;
}

const referenceText = ({ head, field, path }: Reading): string => `${withoutBraces(head)}.${field}${path.map(partText).join("")}`;

/** An expression that reads this, alone; undefined for names that braces cannot hold. */
export const templateOf = (reading: Reading | undefined): string | undefined => reading && converted(() => `{{${referenceText(reading)}}}`);

const filterText = (name: string, args: readonly Literal[]): string =>
  ` | ${name}${args.length ? `(${args.map((arg) => JSON.stringify(arg)).join(", ")})` : ""}`;

/** What stands between the braces, of a value that filters may follow. */
function inner(expression: Expression): string {
  if (expression.kind === "read") return referenceText(expression.reading);
  return expression.kind === "filter" ? inner(expression.value) + filterText(expression.name, expression.args) : unconverted();
}

function templateText(expression: Expression): string {
  switch (expression.kind) {
    case "literal": {
      const text = expression.value === null ? "" : String(expression.value);
      return text.includes("{{") ? unconverted() : text;
    }
    case "sum":
      return expression.parts.map(templateText).join("");
    case "object":
    case "list":
      return jsonTemplate(expression);
    default:
      return `{{${inner(expression)}}}`;
  }
}

/** The same as JSON, whose own braces must not look like those of an expression. */
function jsonTemplate(expression: Expression): string {
  switch (expression.kind) {
    case "object": {
      const entries = expression.entries.map(([key, value]) => `${JSON.stringify(key)}: ${jsonTemplate(value)}`);
      return `{ ${entries.join(", ")} }`;
    }
    case "list":
      return `[${expression.items.map(jsonTemplate).join(", ")}]`;
    case "literal":
      return JSON.stringify(expression.value);
    case "sum":
      return `"${expression.parts.map((part) => (part.kind === "literal" ? JSON.stringify(String(part.value)).slice(1, -1) : templateText(part))).join("")}"`;
    case "read":
      // A whole output may be an object or a text; within quotes it is always one text.
      return expression.reading.path.length ? `{{${inner(expression)} | json}}` : `{{${inner(expression)}}}`;
    default:
      return expression.name === "json" ? `{{${inner(expression)}}}` : `{{${inner(expression)} | json}}`;
  }
}

/** A text cut at its braces: every second piece is code. Looked for by hand, since a pattern takes ever longer on braces that never close. */
function cutAtBraces(text: string): string[] {
  const pieces: string[] = [];
  let at = 0;
  for (;;) {
    const start = text.indexOf("{{", at);
    let end = start === -1 ? -1 : text.indexOf("}}", start + 2);
    if (end === -1) return [...pieces, text.slice(at)];
    while (text[end + 2] === "}") end += 1;
    pieces.push(text.slice(at, start), text.slice(start + 2, end));
    at = end + 2;
  }
}

/** A text with what could not be carried over, as it stood between the braces. */
export interface Converted {
  text: string;
  left: string[];
}

/**
 * A text of n8n as one of ours: it holds expressions when it begins with `=`. Without that, braces with a `$` in them are text there
 * and were meant as an expression all the same. What cannot be said here stays as it is.
 */
export function convertText(value: unknown, find: Find): Converted {
  const isTemplate = typeof value === "string" && (value.startsWith("=") || /\{\{\s*\$/.test(value));
  if (!isTemplate) return { text: shown(value), left: [] };
  const left: string[] = [];
  const cut = cutAtBraces(value.replace(/^=/, ""));
  const pieces = cut.map((piece, index) => {
    if (index % 2 === 0) return piece;
    // Behind one backslash the expression would be literal text.
    const before = cut[index - 1] ?? "";
    const isEscaped = isEscapedAt(before, before.length);
    const said = isEscaped ? undefined : converted(() => templateText(parse(piece, find)));
    if (said !== undefined) return said;
    left.push(piece.trim());
    return `{{${piece}}}`;
  });
  return { text: pieces.join(""), left };
}

/** What work comes to, or undefined for what only JavaScript can say. */
function converted<Result>(work: () => Result): Result | undefined {
  try {
    return work();
  } catch (error) {
    if (error === UNCONVERTED) return undefined;
    throw error;
  }
}

/** Python that reads a value; `output` for the item of the loop that a node stands right behind. */
function python(expression: Expression, itemOf: string | undefined): string {
  if (expression.kind === "literal") {
    const { value } = expression;
    if (typeof value === "string") return pythonString(value);
    return value === null ? "None" : typeof value === "boolean" ? (value ? "True" : "False") : String(value);
  }
  if (expression.kind === "filter") {
    const value = python(expression.value, itemOf);
    const calls: Readonly<Record<string, string>> = {
      length: `len(${value})`,
      lower: `str(${value}).lower()`,
      upper: `str(${value}).upper()`,
      trim: `str(${value}).strip()`,
    };
    return expression.args.length === 0 && Object.hasOwn(calls, expression.name) ? (calls[expression.name] as string) : unconverted();
  }
  if (expression.kind !== "read") return unconverted();
  const { head, field, path } = expression.reading;
  const steps = (parts: readonly PathPart[]) => parts.map((part) => `[${typeof part === "number" ? part : pythonString(part)}]`).join("");
  const within = (whole: string, parts: readonly PathPart[]) => (parts.length ? `json.loads(${whole})${steps(parts)}` : whole);
  if (head === "trigger") return within("trigger_output", field === "output" ? path : [field, ...path]);
  if (field === "output") return within(`node_outputs[${pythonString(head)}]`, path);
  return field === "current_item" && head === itemOf ? within("output", path) : unconverted();
}

/** A value of n8n as Python that reads it; undefined where Python here cannot say it. */
export function convertValue(value: unknown, find: Find, itemOf: string | undefined): string | undefined {
  const pieces = typeof value === "string" && value.startsWith("=") ? cutAtBraces(value.slice(1)) : [];
  const [before = "", code, after = "", ...more] = pieces;
  return converted(() => {
    if (code === undefined) {
      const literal = typeof value === "string" && pieces.length ? before : value;
      const isLiteral = literal === null || ["string", "number", "boolean"].includes(typeof literal);
      return isLiteral ? python({ kind: "literal", value: literal as Literal }, itemOf) : undefined;
    }
    if (before.trim() !== "" || after.trim() !== "" || more.length) return undefined;
    return python(parse(code, find), itemOf);
  });
}
