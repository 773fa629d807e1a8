import { type Frame, Monty, MontyError, MontyNameLookup, MontyRuntimeError, MontySnapshot } from "@pydantic/monty";
import { isRisky, unboundedName } from "#server/engine/condition-risks.ts";
import { nearestName } from "#server/engine/expressions.ts";

// The Python conditions of branches, run in the sandbox of @pydantic/monty: no files, no network, no process, nothing of ours.

/** What a condition can read; texts, as the specification has them (branchNode). */
export interface ConditionVariables {
  /** Output of the node before. */
  output: string;
  trigger_output: string;
  /** Outputs of completed nodes: agents by name, others by label. */
  node_outputs: Readonly<Record<string, string>>;
}

const NAMES = ["output", "trigger_output", "node_outputs"];
const MODULES = ["re", "json", "math"];
const IMPORTS = `import ${MODULES.join(", ")}`;
const OPTIONS = { inputs: NAMES, scriptName: "condition" };
const LIMITS = { maxDurationSecs: 0.1, maxMemory: 64 * 1024 * 1024, maxRecursionDepth: 100 };
const AT_HAND = "It can use output, trigger_output and node_outputs.";
/** Lines before the condition in what is compiled: the imports, and the opening brackets. */
const LINES_BEFORE = 2;
const MOST_KEPT = 500;

/** A risky condition on its way to a process of its own, as texts and a Map that can be sent there. */
export interface ConditionRequest {
  source: string;
  options: { inputs: string[]; scriptName: string };
  limits: { maxDurationSecs: number; maxMemory: number; maxRecursionDepth: number };
  inputs: { output: string; trigger_output: string; node_outputs: Map<string, string> };
}

/** What came of it there. */
export type ConditionAnswer = { holds: boolean } | { exception: { typeName: string; message: string } };

interface Compiled {
  program?: Monty;
  /** What is wrong with it. */
  fault?: string;
  /** Of a risky one: what is compiled again in a process of its own. */
  source?: string;
  /** Whether its names were looked for in a trial. */
  isTried?: boolean;
}

/** Compiled conditions, the longest unused first. A program may be run again and again, also after it failed. */
const compiled = new Map<string, Compiled>();

/** Where the compiler points to; a syntax error keeps that in a field of its own, which its class does not show. */
function placeOf(error: MontyError): Frame | undefined {
  const native = error instanceof MontyRuntimeError ? error : (Reflect.get(error, "_native") as { traceback?(): Frame[] } | undefined);
  return native?.traceback?.()?.at(-1);
}

/** `near "…"`, from where the compiler points to. */
function nearOf(error: MontyError, lines: string[]): string {
  const place = placeOf(error);
  const line = place && lines[place.line - LINES_BEFORE - 1];
  if (place === undefined) return "";
  const rest =
    line === undefined
      ? ""
      : [...line]
          .slice(place.column - 1)
          .join("")
          .trim();
  if (rest === "") return " at its end";
  return ` near "${rest.length > 40 ? `${rest.slice(0, 40)}…` : rest}"`;
}

/** What people mean who write another language. */
function hintOf(condition: string, message: string): string {
  const bare = condition.replace(/"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*'/g, '""');
  if (/===|!==/.test(bare)) return " Python compares with == and !=.";
  if (/&&|\|\||(^|[\s(])![^=]/.test(bare)) return " Python writes and, or, not.";
  if (/[“”‘’]/.test(bare)) return " Use straight quotes.";
  if (/found `=`/.test(message)) return " To compare, write ==.";
  if (/`;`|`if`|`import`|`return`|`del`|`for`|statement/.test(message))
    return ' Write one expression, for example: "yes" in output.lower()';
  return "";
}

/** The compiler's own words, shortened where they speak of the compiler. */
const plain = (message: string) =>
  message
    .replace(/^The monty syntax parser does not yet support /, "this sandbox has no ")
    .replace(/^Source is too deeply nested$/, "it is nested too deeply")
    .replace(/^Expected .*?, (?:but )?found newline$/, "it is not one expression")
    .replace(/^Expected `.`, found (?=`)/, "unexpected ");

/**
 * Compiled twice, between different brackets: what closes the brackets around it, to smuggle in a statement, fits only one
 * pair, and a generator without brackets of its own, which would always be true, only the first.
 */
function compile(condition: string): Compiled {
  const text = condition.trim();
  if (/^(\s*#.*)*\s*$/.test(text)) return { fault: 'The condition is empty. Write one, for example: "yes" in output.lower()' };
  const unbounded = unboundedName(text);
  if (unbounded) return { fault: `The condition uses ${unbounded}, which is not to be had here.` };
  try {
    const source = `${IMPORTS}\nnot not (\n${text}\n)`;
    const program = new Monty(source, OPTIONS);
    new Monty(`${IMPORTS}\n[0,\n${text}\n]`, OPTIONS);
    return isRisky(text) ? { program, source, isTried: true } : { program };
  } catch (error) {
    if (!(error instanceof MontyError)) throw error;
    const { message } = error.exception;
    const where = nearOf(error, text.split("\n"));
    return { fault: `The condition is not a Python expression: ${plain(message)}${where}.${hintOf(text, message)}` };
  }
}

function compiledOf(condition: string): Compiled {
  const known = compiled.get(condition) ?? compile(condition);
  compiled.delete(condition);
  compiled.set(condition, known);
  const [oldest] = compiled.keys();
  if (compiled.size > MOST_KEPT && oldest !== undefined) compiled.delete(oldest);
  return known;
}

const inputsOf = (variables: ConditionVariables, condition: string) => ({
  output: variables.output,
  trigger_output: variables.trigger_output,
  // Copied into the sandbox whole: only for those who ask.
  node_outputs: new Map(condition.includes("node_outputs") ? Object.entries(variables.node_outputs) : []),
});

/** A failure in the sandbox in words for the author of the workflow. */
function sentenceOf(
  { typeName, message }: { typeName: string; message: string },
  condition: string,
  variables: ConditionVariables,
): string {
  if (typeName === "TimeoutError") return "The condition took longer than 100 ms. Make it simpler.";
  if (typeName === "MemoryError") return "The condition took more than 64 MB of memory. Make it simpler.";
  if (typeName === "RecursionError") return "The condition calls itself without end.";
  if (/backtracking/.test(message)) return "The condition's regular expression takes too long on this text. Make it simpler.";
  if (typeName === "NameError") return `The condition failed: NameError: ${message}. ${AT_HAND}`;
  if (typeName === "NotImplementedError" && /^OS function/.test(message))
    return "The condition failed: it cannot read files or the system.";
  if (typeName === "KeyError" && condition.includes("node_outputs")) {
    const names = Object.keys(variables.node_outputs).map((name) => `"${name}"`);
    const known = names.length === 0 ? "is empty" : `has ${names.slice(0, 10).join(", ")}${names.length > 10 ? ", …" : ""}`;
    return `The condition failed: KeyError: "${message}". node_outputs ${known}; node_outputs.get("…", "") reads one that may be missing.`;
  }
  return `The condition failed: ${typeName}${message ? `: ${message}` : ""}.`.replace(/\.\.$/, ".");
}

/**
 * Whether a condition holds: one Python expression, by its truth value, with `re`, `json` and `math` at hand. It has 100 ms, 64 MB
 * and 100 calls deep.
 * @param apart runs, in a process that can be killed, one whose single steps the sandbox cannot stop; only then a promise comes back
 * @throws Error with a sentence for the author of the workflow; whatever `apart` throws
 */
export function evaluateWith(
  condition: string,
  variables: ConditionVariables,
  apart: (request: ConditionRequest) => Promise<ConditionAnswer>,
): boolean | Promise<boolean> {
  const { program, source, fault } = compiledOf(condition);
  if (!program) throw new Error(fault ?? "The condition cannot be compiled.");
  const inputs = inputsOf(variables, condition);
  if (source !== undefined)
    return apart({ source, options: OPTIONS, limits: LIMITS, inputs }).then((answer) => {
      if ("exception" in answer) throw new Error(sentenceOf(answer.exception, condition, variables));
      return answer.holds;
    });
  try {
    return program.run({ inputs, limits: LIMITS, printCallback: () => undefined }) === true;
  } catch (error) {
    if (error instanceof MontyError) throw new Error(sentenceOf(error.exception, condition, variables));
    throw error;
  }
}

/** The first name that exists nowhere, met when the condition runs on empty texts. Not every way through it is walked. */
function unknownName(program: Monty): string | undefined {
  try {
    const inputs = { output: "", trigger_output: "", node_outputs: new Map() };
    const met = program.start({ inputs, limits: LIMITS, printCallback: () => undefined });
    if (met instanceof MontyNameLookup) return met.variableName;
    return met instanceof MontySnapshot ? met.functionName : undefined;
  } catch {
    return undefined; // it cannot do with empty texts: no fault
  }
}

/** What people of other languages call Python's constants. */
const CONSTANTS = new Map(Object.entries({ true: "True", false: "False", null: "None", none: "None", undefined: "None" }));

function trialFault(program: Monty): string | undefined {
  const name = unknownName(program);
  if (name === undefined) return undefined;
  const constant = CONSTANTS.get(name);
  const near = nearestName(NAMES, name);
  const advice = constant ? ` Python writes ${constant}.` : near ? ` Did you mean ${near}?` : "";
  return `The condition uses ${name}, which does not exist.${advice} ${AT_HAND}`;
}

/**
 * What is wrong with a condition before it runs, as a sentence, or undefined: its grammar, and names that do not exist as far as
 * a trial on empty texts meets them.
 */
export function conditionFault(condition: string): string | undefined {
  const entry = compiledOf(condition);
  if (entry.program && !entry.isTried) {
    entry.isTried = true;
    const fault = trialFault(entry.program);
    if (fault !== undefined) entry.fault = fault;
  }
  return entry.fault;
}
