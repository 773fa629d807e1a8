import { runInNewContext } from "node:vm";
import { z } from "zod";
import type { JsonSchema } from "#server/llm/tools/tool.ts";
import { parseForeignJson } from "#server/platform/clean-text.ts";

/** What became of an answer that should be JSON: the JSON text in it, or what is wrong with it. */
export type CheckedAnswer = { json: string } | { problem: string };

/**
 * What a schema may hold, since each answer is checked against it and each request carries it. Those of the vendors that
 * check answers themselves are smaller: https://platform.openai.com/docs/guides/structured-outputs allows 5,000 properties
 * in 10 levels, and 1,000 values of enums.
 */
const MOST = { characters: 64 * 1024, levels: 32, enumValues: 1000, properties: 2000, pattern: 1000 };
const LONGEST_CHECK_MS = 250;
const MOST_PROBLEMS = 5;

// Zod's own reader of JSON Schema (drafts 4, 7 and 2020-12), the validator that the rest of the house uses.
const compile = (schema: JsonSchema): z.ZodType => z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);

const count = (number: number) => number.toLocaleString("en");

/** In what a schema is larger than may be; undefined when in nothing. */
function excessOf(schema: JsonSchema): string | undefined {
  let [enumValues, properties] = [0, 0];
  const open: [value: object, level: number][] = [[schema, 1]];
  for (let next = open.pop(); next; next = open.pop()) {
    const [value, level] = next;
    if (level > MOST.levels) return `It is nested deeper than ${MOST.levels} levels. Name inner schemas under $defs and refer to them.`;
    const { enum: values, properties: fields, pattern } = value as { enum?: unknown; properties?: unknown; pattern?: unknown };
    if (Array.isArray(values)) enumValues += values.length;
    if (typeof fields === "object" && fields !== null) properties += Object.keys(fields).length;
    if (typeof pattern === "string" && pattern.length > MOST.pattern)
      return `It has a pattern of ${count(pattern.length)} characters, more than ${count(MOST.pattern)}.`;
    for (const inner of Object.values(value)) if (typeof inner === "object" && inner !== null) open.push([inner, level + 1]);
  }
  if (enumValues > MOST.enumValues) return `Its enums have ${count(enumValues)} values together, more than ${count(MOST.enumValues)}.`;
  if (properties > MOST.properties) return `It has ${count(properties)} properties, more than ${count(MOST.properties)}.`;
  const { length } = JSON.stringify(schema);
  return length > MOST.characters ? `It has ${count(length)} characters, more than ${count(MOST.characters)}.` : undefined;
}

/** Why answers cannot be checked against this JSON Schema; undefined when they can. */
export function schemaProblem(schema: JsonSchema): string | undefined {
  const excess = excessOf(schema);
  if (excess !== undefined) return `This JSON Schema is too large. ${excess}`;
  try {
    compile(schema);
    return undefined;
  } catch (error) {
    const said = error instanceof Error ? error.message.replace(" in Zod", "").replace(/\.$/, "") : "It cannot be read";
    return `Answers cannot be checked against this JSON Schema: ${said}.`;
  }
}

/** The first fenced block, without its fences. Line by line, as a pattern would take for ever over many blank lines. */
function fencedIn(text: string): string | undefined {
  if (!text.includes("```")) return undefined;
  const lines = text.split("\n");
  const opening = lines.findIndex((line) => /```(?:json)?$/i.test(line.trimEnd()));
  const closing = lines.findIndex((line, at) => at > opening && line.trimStart().startsWith("```"));
  return opening >= 0 && closing >= 0 ? lines.slice(opening + 1, closing).join("\n") : undefined;
}

/** The JSON texts that an answer may hold: all of it, a fenced block, or what stands between the outermost brackets. */
function candidates(text: string): string[] {
  const start = text.search(/[[{]/);
  const end = Math.max(text.lastIndexOf("}"), text.lastIndexOf("]"));
  return [text, fencedIn(text), start >= 0 && end > start ? text.slice(start, end + 1) : undefined].flatMap((one) => one?.trim() || []);
}

function parsed(text: string): { json: string; value: unknown } | undefined {
  for (const json of candidates(text)) {
    try {
      return { json, value: parseForeignJson(json) };
    } catch {
      // The next candidate may do.
    }
  }
  return undefined;
}

/** Returns a sentence for each fault, with the path of the field. */
function sentencesOf(issue: z.core.$ZodIssue): string[] {
  const paths = issue.code === "unrecognized_keys" ? issue.keys.map((key) => [...issue.path, key]) : [issue.path];
  return paths.map((path) => (path.length ? `${path.join(".")}: ${issue.message}` : issue.message));
}

/**
 * Makes the check that answers must pass. A pattern in the schema may take for ever over a text that a model chose, so
 * the check has a quarter of a second and is stopped in the middle of a regular expression (which `vm` does).
 * @throws Error for a schema of which `schemaProblem` tells
 */
export function answerCheck(schema: JsonSchema): (text: string) => CheckedAnswer {
  const compiled = compile(schema);
  return (text) => {
    const found = parsed(text);
    if (!found) return { problem: text.trim() === "" ? "it is empty" : "it is not JSON" };
    const check = () => compiled.safeParse(found.value);
    try {
      const result = runInNewContext("check()", { check }, { timeout: LONGEST_CHECK_MS }) as ReturnType<typeof check>;
      if (result.success) return { json: found.json };
      return { problem: result.error.issues.slice(0, MOST_PROBLEMS).flatMap(sentencesOf).slice(0, MOST_PROBLEMS).join("; ") };
    } catch {
      return { problem: "a pattern of the schema takes too long over it" };
    }
  };
}
