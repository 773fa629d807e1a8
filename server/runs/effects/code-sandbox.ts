import { Monty, MontyError } from "@pydantic/monty";
import { adviceFor, bare, hintOf, missingFeature, placeOf, plain } from "#server/runs/effects/condition-sandbox.ts";
import type { CodeResult } from "#server/runs/ports.ts";
import { MAX_JSON_DEPTH } from "#server/shared/json-depth.ts";
import { MAX_OUTPUT, tooLarge } from "#server/workflow/output-size.ts";

// The Python of code nodes, in the sandbox that runs conditions: no files, no network, no process, nothing of ours. It runs only
// where it can be killed (code-process.ts).

/** Code on its way to the process: to be run with its inputs, or only looked at with their names. */
export type CodeRequest =
  | { code: string; inputs: Readonly<Record<string, string>>; seconds: number }
  | { code: string; inputs?: undefined; names: readonly string[] };

/** What came of it there. */
export type CodeAnswer = CodeResult | { fault: string | undefined };

const MODULES = ["re", "json", "math", "datetime"];
/** One line, before the first of the code. */
const IMPORTS = `import ${MODULES.join(", ")}\n`;
const MEGABYTES = 100;
/** Characters of what is printed that are kept. */
const MOST_PRINTED = 65_536;
/** Of a failure, which may quote a text whole. */
const MOST_TOLD = 65_536;

export const TOO_LONG = (seconds: number) =>
  `The code took longer than its ${seconds} s, and was stopped. Make it quicker, or give it more time.`;
export const TOO_LARGE = "The code took more than the 128 MB of memory that there are for it, and was stopped.";

/** The first import of what is not there, as a sentence. */
function importFault(code: string): string | undefined {
  for (const [index, line] of bare(code).split("\n").entries()) {
    const [, from, names] = /^\s*(?:from\s+([\w.]+)\s+import\b|import\s+(.+))/.exec(line) ?? [];
    const wanted = from ? [from] : (names ?? "").split(",").map((name) => name.trim().split(/\s/, 1)[0] ?? "");
    const missing = wanted.find((name) => name !== "" && !MODULES.includes(name));
    if (missing) return `Line ${index + 1}: there is no module ${missing} here. There are ${MODULES.join(", ")}.`;
  }
  return undefined;
}

function compile(code: string, names: readonly string[]): Monty {
  const missing = importFault(code);
  if (missing) throw new Error(missing);
  try {
    return new Monty(IMPORTS + code, { inputs: [...names], scriptName: "code" });
  } catch (error) {
    if (!(error instanceof MontyError)) throw error;
    const { message } = error.exception;
    throw new Error(`${lineOf(error, code)}this is not Python: ${plain(message)}.${hintOf("", message)}`, { cause: error });
  }
}

/** `Line 3: `, from where the interpreter points to. */
function lineOf(error: MontyError, code: string): string {
  const line = placeOf(error)?.line;
  if (line === undefined) return "";
  return `Line ${Math.min(Math.max(1, line - 1), code.split("\n").length)}: `;
}

/** What is wrong with code before it runs, as a sentence: its grammar, and what the sandbox does not have. */
export function codeFaultOf(code: string, names: readonly string[]): string | undefined {
  try {
    compile(code, names);
    return missingFeature(code);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

function sentenceOf(error: MontyError, code: string, seconds: number): string {
  const { typeName, message } = error.exception;
  if (typeName === "TimeoutError") return TOO_LONG(seconds);
  if (typeName === "MemoryError") return TOO_LARGE;
  const line = lineOf(error, code);
  if (typeName === "RecursionError") return `${line}the code calls itself without end.`;
  if (typeName === "NotImplementedError" && /^OS function/.test(message))
    return `${line}the code cannot read files, the system or the time. Give it what it needs as an input.`;
  const told = `${typeName}${message ? `: ${message}` : ""}`.replace(/\.?$/, ".");
  return `${line}${told}${adviceFor(typeName, message)}`.slice(0, MOST_TOLD);
}

const two = (number: unknown) => String(number).padStart(2, "0");

/** A date or a time as ISO 8601; undefined for what is neither. Only the sandbox makes plain objects: its dictionaries are maps. */
function isoOf(value: Record<string, unknown>): string | undefined {
  const { __monty_type__: type, year, month, day, hour, minute, second, microsecond } = value;
  const date = `${String(year).padStart(4, "0")}-${two(month)}-${two(day)}`;
  if (type === "Date") return date;
  if (type !== "DateTime") return undefined;
  const seconds = Number(value.offset_seconds ?? value.offsetSeconds ?? Number.NaN);
  const minutes = Math.abs(Math.round(seconds / 60));
  const zone = Number.isNaN(seconds) ? "" : `${seconds < 0 ? "-" : "+"}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  const part = microsecond ? `.${String(microsecond).padStart(6, "0")}` : "";
  return `${date}T${two(hour)}:${two(minute)}:${two(second)}${part}${zone}`;
}

/** A key of a dictionary as Python's json writes it. */
function keyText(key: unknown): string {
  if (typeof key === "string") return key;
  if (key === null || typeof key === "number" || typeof key === "bigint" || typeof key === "boolean") return String(key);
  throw new Error("The result has a key that is no text, number, True, False or None, which JSON does not know.");
}

/** A value of Python as JSON text. */
function jsonOf(value: unknown, depth = 0): string {
  if (depth > MAX_JSON_DEPTH) throw new Error(`The result is nested more than ${MAX_JSON_DEPTH} levels deep. Make it flatter.`);
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value))
    throw new Error(`The result has the number ${value}, which JSON does not know.`);
  if (value === undefined || value === null || typeof value !== "object") return JSON.stringify(value ?? null);
  if (Array.isArray(value) || value instanceof Set) return `[${[...value].map((item) => jsonOf(item, depth + 1)).join(",")}]`;
  if (value instanceof Map)
    return `{${[...value].map(([key, item]) => `${JSON.stringify(keyText(key))}:${jsonOf(item, depth + 1)}`).join(",")}}`;
  const iso = value instanceof Uint8Array ? undefined : isoOf(value as Record<string, unknown>);
  if (iso === undefined) throw new Error("The result holds something that JSON does not know. Make text of it, for example with str(…).");
  return JSON.stringify(iso);
}

/**
 * Runs code: what its last expression comes to, text as it is and anything else as JSON, and the beginning of what it prints.
 * Its failure names the line.
 * @param inputs texts by the names of variables
 */
export function execute(code: string, inputs: Readonly<Record<string, string>>, seconds: number): CodeAnswer {
  let printed = "";
  const printCallback = (_: string, text: string) => {
    if (printed.length < MOST_PRINTED) printed = (printed + text).slice(0, MOST_PRINTED);
  };
  const names = Object.keys(inputs);
  try {
    const program = compile(code, names);
    const limits = { maxDurationSecs: seconds, maxMemory: MEGABYTES * 1024 * 1024, maxRecursionDepth: 200 };
    const value: unknown = program.run({ ...(names.length && { inputs }), limits, printCallback });
    const json = typeof value === "string" ? "" : jsonOf(value);
    const output = typeof value === "string" ? value : json.startsWith('"') ? String(JSON.parse(json)) : json;
    // What nobody takes is not sent either.
    if (output.length > MAX_OUTPUT) throw new Error(tooLarge(output.length));
    return { output, printed: printed.toWellFormed() };
  } catch (error) {
    const failure = error instanceof MontyError ? sentenceOf(error, code, seconds) : error instanceof Error ? error.message : String(error);
    return { failure, printed: printed.toWellFormed() };
  }
}
