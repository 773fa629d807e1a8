import { assertJsonDepth, JsonTooComplex } from "#server/shared/json-depth.ts";
import { dictionary, own } from "#server/shared/json-text.ts";
import type { TriggerParameter } from "#server/workflow/nodes/trigger-node.ts";

/** Thrown for a value that does not fit its parameter; the text names the parameter and what it takes. */
export class ParameterError extends Error {
  override name = "ParameterError";
  readonly parameter: string;

  constructor(parameter: string, message: string) {
    super(message);
    this.parameter = parameter;
  }
}

/** @throws JsonTooComplex */
function parsed(text: string, fits: (value: unknown) => boolean): unknown {
  assertJsonDepth(text);
  try {
    const value: unknown = JSON.parse(text);
    return fits(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

const YES = ["true", "1", "yes", "on"];
const NO = ["false", "0", "no", "off"];

/** What people write for true and false, in any letter case, as a boolean; undefined for anything else. */
export function booleanOf(value: unknown): boolean | undefined {
  const word = typeof value === "object" ? "" : String(value).trim().toLowerCase();
  return YES.includes(word) ? true : NO.includes(word) ? false : undefined;
}

const isObject = (value: unknown) => value !== null && typeof value === "object" && !Array.isArray(value);

/** The value in the parameter's type, or undefined when it does not fit. */
function coerce({ type, options }: TriggerParameter, value: unknown): unknown {
  switch (type) {
    case "number": {
      const number = typeof value === "string" && value.trim() !== "" ? Number(value) : value;
      return typeof number === "number" && Number.isFinite(number) ? number : undefined;
    }
    case "boolean":
      return booleanOf(value);
    case "array":
      return typeof value === "string" ? parsed(value, Array.isArray) : Array.isArray(value) ? value : undefined;
    case "object":
      return typeof value === "string" ? parsed(value, isObject) : isObject(value) ? value : undefined;
    case "select":
      return options?.includes(String(value)) ? String(value) : undefined;
    default:
      return typeof value === "string" ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
  }
}

/** A whole number, as text, that JavaScript would round. */
const isRounded = (value: unknown): boolean =>
  typeof value === "string" && /^\s*[+-]?\d+\s*$/.test(value) && !Number.isSafeInteger(Number(value));

const EXPECTED: Record<TriggerParameter["type"], string> = {
  text: "text",
  number: "a number",
  boolean: "true or false",
  select: "one of its options",
  array: "a JSON array",
  object: "a JSON object",
};

const isNothing = ({ type }: TriggerParameter, value: unknown): boolean =>
  value === undefined || value === null || (value === "" && type !== "text");

const misfit = (parameter: TriggerParameter): string => {
  const options = parameter.type === "select" ? ` (${parameter.options?.join(", ")})` : "";
  return `"${parameter.name}" must be ${EXPECTED[parameter.type]}${options}.`;
};

/** Returns what `coerce` does. @throws ParameterError for JSON that is too complex */
function coerced(parameter: TriggerParameter, value: unknown): unknown {
  try {
    return coerce(parameter, value);
  } catch (error) {
    if (!(error instanceof JsonTooComplex)) throw error;
    throw new ParameterError(parameter.name, `The JSON of "${parameter.name}" is too complex. ${error.message}`);
  }
}

/**
 * A value in the parameter's type.
 * @throws ParameterError when it does not fit
 */
function typed(parameter: TriggerParameter, value: unknown): unknown {
  if (parameter.type === "number" && isRounded(value))
    throw new ParameterError(parameter.name, `"${parameter.name}" has more digits than a number keeps. Make it a text parameter.`);
  const result = coerced(parameter, value);
  if (result === undefined) throw new ParameterError(parameter.name, misfit(parameter));
  return result;
}

/** Why a run that gives no value would fail at the parameter's default, or undefined when the default fits or there is none. */
export function defaultFault(parameter: TriggerParameter): string | undefined {
  if (isNothing(parameter, parameter.default)) return undefined;
  try {
    typed(parameter, parameter.default);
    return undefined;
  } catch (error) {
    if (error instanceof ParameterError) return `The default of ${error.message}`;
    throw error;
  }
}

/**
 * The values of a params trigger: what was given, else each parameter's default, in the declared types.
 * (Specification, Trigger output expressions: explicit values override defaults, unmentioned ones keep them.)
 * @throws ParameterError for a missing required value, a value of another type, or a name that there is not
 */
export function paramValues(parameters: readonly TriggerParameter[], given: Record<string, unknown>): Record<string, unknown> {
  const unknown = Object.keys(given).find((name) => !parameters.some((parameter) => parameter.name === name));
  if (unknown !== undefined) {
    const names = parameters.map((parameter) => parameter.name).join(", ");
    throw new ParameterError(unknown, `This workflow has no parameter "${unknown}". It has: ${names || "none"}.`);
  }
  const values = dictionary<unknown>();
  for (const parameter of parameters) {
    const value = own(given, parameter.name) ?? parameter.default;
    if (isNothing(parameter, value)) {
      if (parameter.required)
        throw new ParameterError(parameter.name, `"${parameter.name}" is required: give ${EXPECTED[parameter.type]}.`);
      values[parameter.name] = null;
      continue;
    }
    const result = typed(parameter, value);
    if (parameter.required && result === "")
      throw new ParameterError(parameter.name, `"${parameter.name}" is required and must not be empty.`);
    values[parameter.name] = result;
  }
  return values;
}
