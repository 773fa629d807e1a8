import { JsonTooComplex } from "#server/shared/json-depth.ts";
import { parseJson } from "#server/shared/json-text.ts";
import { MAX_OUTPUT, tooLarge } from "#server/workflow/output-size.ts";

/** JSON text to be parsed and written anew: on one line, with indentation, or an object field by field. Plain data. */
export interface JsonRewrite {
  text: string;
  as: "compact" | "indented" | "fields";
}

/** The JSON as it was wanted; of what is no JSON, or no object, `isMisfit`; or why there is none. Plain data. */
export type RewrittenJson = { text: string } | { fields: [name: string, json: string][] } | { isMisfit: true } | { error: string };

/** Characters and levels up to which JSON is written anew at once: deeper, indentation makes hundreds of times the text of it. */
const QUICK_LENGTH = 64 * 1024;
const QUICK_DEPTH = 50;

/** True for JSON that takes little time and memory to write anew. Brackets in its strings count, too. */
export function isQuick({ text }: JsonRewrite): boolean {
  if (text.length >= QUICK_LENGTH) return false;
  let depth = 0;
  for (const sign of text)
    if (sign === "[" || sign === "{") {
      if (++depth > QUICK_DEPTH) return false;
    } else if (sign === "]" || sign === "}") depth--;
  return true;
}

/** Parses JSON and writes it anew. Never throws. */
export function rewriteJson({ text, as }: JsonRewrite): RewrittenJson {
  try {
    const value = parseJson(text);
    if (as === "fields") {
      if (value === null || typeof value !== "object" || Array.isArray(value)) return { isMisfit: true };
      return { fields: Object.entries(value).map(([name, field]) => [name, JSON.stringify(field)]) };
    }
    const written = as === "indented" ? JSON.stringify(value, null, 2) : JSON.stringify(value);
    return written.length > MAX_OUTPUT ? { error: tooLarge(written.length) } : { text: written };
  } catch (error) {
    return error instanceof JsonTooComplex ? { error: `The JSON is too complex. ${error.message}` } : { isMisfit: true };
  }
}
