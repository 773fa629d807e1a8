import { type Frame, Monty, MontyError, MontyNameLookup, MontyRuntimeError, MontySnapshot } from "@pydantic/monty";
import { LRUCache } from "lru-cache";
import { DAY_PATTERN } from "#server/workflow/condition-rows.ts";
import { AT_HAND, type ConditionFault, type ConditionVariables, NAMES } from "#server/workflow/condition-schema.ts";

// The Python conditions of branches, in the sandbox of @pydantic/monty: no files, no network, no process, nothing of ours. It
// looks at its limits between steps of Python, not inside of one, so this runs only where it can be killed (condition-process.ts).

const MODULES = ["re", "json", "math"];
const IMPORTS = `import ${MODULES.join(", ")}`;
const OPTIONS = { inputs: NAMES, scriptName: "condition" };
const LIMITS = { maxDurationSecs: 0.1, maxMemory: 64 * 1024 * 1024, maxRecursionDepth: 100 };
/** Lines before the condition in what is compiled: the imports, and the opening brackets. */
const LINES_BEFORE = 2;

interface Compiled {
  program?: Monty;
  fault?: string;
}

/** A program may be run again and again, also after it failed. */
const compiled = new LRUCache<string, Compiled>({ max: 500, memoMethod: (condition) => compile(condition) });

/** Where the interpreter points to; a syntax error keeps that in a field of its own, which its class does not show. */
export function placeOf(error: MontyError): Frame | undefined {
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

const STRING = /(?<![\w"'])[rRbBuU]{0,2}(?:"""[\s\S]*?(?:"""|$)|'''[\s\S]*?(?:'''|$)|"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?)/g;
/** The condition with its texts empty, and without remarks; f-strings stay, for they hold expressions. */
export const bare = (condition: string): string => condition.replace(STRING, '""').replace(/#.*/g, "");

/** What people mean who write another language. */
export function hintOf(condition: string, message: string): string {
  const text = bare(condition);
  if (/===|!==/.test(text)) return " Python compares with == and !=.";
  if (/&&|\|\||(^|[\s(])![^=]/.test(text)) return " Python writes and, or, not.";
  if (/[“”‘’]/.test(text)) return " Use straight quotes.";
  if (/found `=`/.test(message)) return " To compare, write ==.";
  if (/`;`|`if`|`import`|`return`|`del`|`for`|statement/.test(message))
    return ' Write one expression, for example: "yes" in output.lower()';
  return "";
}

/** The compiler's own words, shortened where they speak of the compiler. */
export const plain = (message: string) =>
  message
    .replace(/^The monty syntax parser does not yet support /, "this sandbox has no ")
    .replace(/^Source is too deeply nested$/, "it is nested too deeply")
    .replace(/^Expected .*?, (?:but )?found newline$/, "it is not one expression")
    .replace(/^Expected `.`, found (?=`)/, "unexpected ");

const F_STRING = 'Write an f-string, for example: f"{len(output)} letters"';
const methodAdvice = (type: string, method: string) =>
  `This sandbox has no ${type}.${method} to hand on. Write a lambda, for example: lambda value: value.${method}()`;

/**
 * Python that the sandbox does not have, as it stands in the text, with what to write instead: a trial would miss what it does
 * not come by. Only what can mean nothing else.
 */
export function missingFeature(condition: string): string | undefined {
  const text = bare(condition);
  if (/""\s*%/.test(text)) return `This sandbox does not fill in texts with %. ${F_STRING}`;
  const format = /\.(format|format_map)\s*\(/.exec(text)?.[1];
  if (format) return `This sandbox has no .${format}(…) of texts. ${F_STRING}`;
  const [, type = "", method = ""] = /(?<![\w.])(str|int|float|list|set|tuple)\s*\.\s*([a-z]\w*)/.exec(text) ?? [];
  // A name that the condition makes itself means something else.
  const isOwn = new RegExp(`(?:lambda|for|,)\\s*\\*{0,2}${type}\\b(?!\\s*[.(])|\\b${type}\\s*:=`).test(text);
  return type && !isOwn ? methodAdvice(type, method) : undefined;
}

/** What to write instead, for a failure that comes of what the sandbox does not have. */
export function adviceFor(typeName: string, message: string): string {
  if (typeName === "TypeError" && /operand type\(s\) for %: '(?:str|bytes)'/.test(message)) return ` ${F_STRING}`;
  if (typeName === "TypeError" && /object is not an iterator$/.test(message))
    return " A generator is a list here: write next(iter(…), None).";
  if (typeName === "NameError" && /name 'format'/.test(message)) return ` ${F_STRING}`;
  const [, owner, name = ""] = /^'(\w+)' object has no attribute '(\w+)'/.exec(typeName === "AttributeError" ? message : "") ?? [];
  if (owner === "type") return ` Write a lambda, for example: lambda value: value.${name}()`;
  if (owner !== "str") return "";
  if (/^format(_map)?$/.test(name)) return ` ${F_STRING}`;
  return /^(translate|maketrans)$/.test(name) ? ' Write replace, for example: output.replace("a", "b")' : "";
}

/**
 * Compiled twice, between different brackets: what closes the brackets around it, to smuggle in a statement, fits only one
 * pair, and a generator without brackets of its own, which would always be true, only the first.
 */
function compile(condition: string): Compiled {
  const text = condition.trim();
  if (text.split("\n").every((line) => /^\s*(?:#|$)/.test(line)))
    return { fault: 'The condition is empty. Write one, for example: "yes" in output.lower()' };
  try {
    const program = new Monty(`${IMPORTS}\nnot not (\n${text}\n)`, OPTIONS);
    new Monty(`${IMPORTS}\n[0,\n${text}\n]`, OPTIONS);
    return { program };
  } catch (error) {
    if (!(error instanceof MontyError)) throw error;
    const { message } = error.exception;
    const where = nearOf(error, text.split("\n"));
    return { fault: `The condition is not a Python expression: ${plain(message)}${where}.${hintOf(text, message)}` };
  }
}

/** A failure in the sandbox in words for the author of the workflow. */
function sentenceOf(
  { typeName, message }: { typeName: string; message: string },
  condition: string,
  { node_outputs }: ConditionVariables,
): string {
  if (typeName === "TimeoutError") return "The condition took longer than 100 ms. Make it simpler.";
  if (typeName === "MemoryError" || /^invalid input type: memory limit/.test(message))
    return "The condition took more than 64 MB of memory. Make it simpler.";
  if (typeName === "RecursionError") return "The condition calls itself without end.";
  if (/backtracking/.test(message)) return "The condition's regular expression takes too long on this text. Make it simpler.";
  if (typeName === "NotImplementedError" && /^OS function/.test(message))
    return "The condition failed: it cannot read files or the system.";
  if (typeName === "KeyError" && condition.includes("node_outputs")) {
    const names = Object.keys(node_outputs).map((name) => `"${name}"`);
    const known = names.length === 0 ? "is empty" : `has ${names.slice(0, 10).join(", ")}${names.length > 10 ? ", …" : ""}`;
    return `The condition failed: KeyError: "${message}". node_outputs ${known}; node_outputs.get("…", "") reads one that may be missing.`;
  }
  const isNoDay = typeName === "TypeError" && /'NoneType' object is not subscriptable/.test(message) && condition.includes(DAY_PATTERN);
  const advice =
    adviceFor(typeName, message) ||
    (typeName === "NameError" ? ` ${AT_HAND}` : isNoDay ? " A date begins with its day, as in 2026-01-31." : "");
  return `The condition failed: ${typeName}${message ? `: ${message}` : ""}`.replace(/\.?$/, `.${advice}`);
}

/**
 * Whether a condition holds: one Python expression, by its truth value, with `re`, `json` and `math` at hand. It has 100 ms, 64 MB
 * and 100 calls deep, as far as the sandbox can tell.
 * @throws Error with a sentence for the author of the workflow
 */
export function holds(condition: string, variables: ConditionVariables): boolean {
  const { program, fault } = compiled.memo(condition);
  if (!program) throw new Error(fault ?? "The condition cannot be compiled.");
  const { output, trigger_output, node_outputs } = variables;
  const inputs = { output, trigger_output, node_outputs: new Map(Object.entries(node_outputs)) };
  try {
    return program.run({ inputs, limits: LIMITS, printCallback: () => undefined }) === true;
  } catch (error) {
    if (error instanceof MontyError) throw new Error(sentenceOf(error.exception, condition, variables));
    throw error;
  }
}

const EMPTY: ConditionVariables = { output: "", trigger_output: "", node_outputs: {} };

/** Runs a condition on empty texts, where not every way through it is walked: what it meets that does not exist. */
function trial(program: Monty): ConditionFault {
  try {
    const inputs = { ...EMPTY, node_outputs: new Map() };
    const met = program.start({ inputs, limits: LIMITS, printCallback: () => undefined });
    const unknownName = met instanceof MontyNameLookup ? met.variableName : met instanceof MontySnapshot ? met.functionName : undefined;
    if (unknownName === undefined) return {};
    const advice = adviceFor("NameError", `name '${unknownName}'`);
    return advice ? { fault: `This sandbox has no ${unknownName}().${advice}` } : { unknownName };
  } catch (error) {
    if (!(error instanceof MontyError)) throw error;
    const { typeName, message } = error.exception;
    const advice = adviceFor(typeName, message);
    return advice ? { fault: `The condition cannot run here: ${message}.${advice}` } : {}; // or it cannot do with empty texts: no fault
  }
}

/** What is wrong with a condition before it runs: its grammar, what the sandbox does not have, and names as far as a trial meets them. */
export function faultOf(condition: string): ConditionFault {
  const { program, fault } = compiled.memo(condition);
  if (!program) return { fault: fault ?? "The condition cannot be compiled." };
  const missing = missingFeature(condition);
  return missing === undefined ? trial(program) : { fault: missing };
}
