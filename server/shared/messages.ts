import { z } from "zod";
import { MAX_FIELD_ERRORS } from "#server/shared/error-schema.ts";

const NAMES: Record<string, string> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
};

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return NAMES[typeof value] ?? typeof value;
}

const plural = (count: number | bigint, one: string) => `${count.toLocaleString("en")} ${one}${Number(count) === 1 ? "" : "s"}`;

function bound(issue: z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>): string {
  const isLow = issue.code === "too_small";
  const limit = isLow ? issue.minimum : issue.maximum;
  const least = isLow ? "at least" : "at most";
  if (issue.origin === "string") return isLow && limit === 1 ? "This must not be empty." : `Use ${least} ${plural(limit, "character")}.`;
  if (issue.origin === "array" || issue.origin === "set") return `Give ${least} ${plural(limit, "item")}.`;
  return `This must be ${least} ${limit.toLocaleString("en")}.`;
}

const FORMATS: Record<string, string> = {
  email: "This is not an e-mail address.",
  url: "This is not a full address such as https://example.com.",
  datetime: "This is not a time such as 2026-11-21T08:00:00.000Z.",
};

/** What is wrong with a value, in words for whoever sent it. A message that a schema brings itself comes before these. */
function explain(raw: z.core.$ZodRawIssue): string | undefined {
  const issue = raw as z.core.$ZodRawIssue & { input?: unknown };
  switch (issue.code) {
    case "invalid_type":
      if (issue.input === undefined) return "This field is required.";
      if ((issue.expected as string) === "int" && typeof issue.input === "number") return "Send a whole number.";
      return `Send ${NAMES[issue.expected] ?? issue.expected}, not ${kindOf(issue.input)}.`;
    case "invalid_value":
      return issue.input === undefined ? "This field is required." : `Use one of: ${issue.values.map(String).join(", ")}.`;
    case "too_small":
    case "too_big":
      return bound(issue as z.core.$ZodRawIssue<z.core.$ZodIssueTooSmall | z.core.$ZodIssueTooBig>);
    case "invalid_format":
      return FORMATS[issue.format];
    case "unrecognized_keys":
      // Zod keeps every key, and would name them all: of a large object that takes seconds.
      issue.keys.splice(MAX_FIELD_ERRORS);
      return "There is no such field.";
    default:
      return undefined;
  }
}

z.config({ customError: explain });
