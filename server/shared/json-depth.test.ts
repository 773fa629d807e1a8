import { expect, test } from "vitest";
import { assertJsonDepth, JsonTooComplex, MAX_VALUE_DEPTH } from "#server/shared/json-depth.ts";

const nested = (levels: number) => `${"[".repeat(levels)}${"]".repeat(levels)}`;

test.each([
  ["lists of the most levels", nested(MAX_VALUE_DEPTH)],
  ["brackets in a string", `["${"[".repeat(1000)}"]`],
  ["brackets behind an escaped quote", String.raw`["\"${"[".repeat(1000)}\\"]`],
  ["a string without an end", `"${"[".repeat(1000)}`],
  ["many lists beside each other", `[${"[],".repeat(1000)}[]]`],
])("accepts JSON with %s", (_, json) => expect(() => assertJsonDepth(json)).not.toThrow());

test.each([
  ["lists", nested(MAX_VALUE_DEPTH + 1)],
  ["objects", '{"a":'.repeat(MAX_VALUE_DEPTH + 1)],
  ["lists behind a string that ends with a backslash", String.raw`["\\",${nested(MAX_VALUE_DEPTH)}]`],
])("refuses JSON with too many levels of %s", (_, json) => expect(() => assertJsonDepth(json)).toThrow(JsonTooComplex));
