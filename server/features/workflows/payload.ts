import { parseCleanJson } from "#server/platform/clean-text.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { asText, atPath } from "#server/platform/json-path.ts";
import { JsonTooComplex } from "#server/shared/json-depth.ts";
import { parseJson } from "#server/shared/json-text.ts";

/** Parses a payload. @throws AppError BAD_REQUEST for text that is not JSON; VALIDATION_ERROR for JSON that is too complex */
function payloadOf(text: string): unknown {
  try {
    return parseCleanJson(text, parseJson);
  } catch (cause) {
    if (cause instanceof JsonTooComplex) throw new AppError("VALIDATION_ERROR", `The body is too complex. ${cause.message}`, { cause });
    throw new AppError("BAD_REQUEST", "The body is not valid JSON. Send one JSON value in UTF-8.", { cause });
  }
}

/**
 * Returns the part of a webhook's payload that the trigger passes on, as text.
 * @param payload_path JSONPath; empty passes on all
 * @param field of the request that holds the payload
 * @throws AppError BAD_REQUEST for text that is not JSON; VALIDATION_ERROR for JSON that is too complex, and when the path leads nowhere
 */
export function passedOn(payload_path: string, text: string, field: string): string {
  const payload = payloadOf(text);
  let part: unknown;
  try {
    part = atPath(payload, payload_path);
  } catch {
    const message = `The path ${payload_path} is too much work in this payload, or that is nested too deeply. Write a simpler path into the trigger.`;
    throw invalidField(field, message);
  }
  if (part === undefined)
    throw invalidField(field, `The payload has nothing at ${payload_path}, which this workflow's trigger reads. Send that field.`);
  return asText(part);
}
