import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_JSON_DEPTH, parseCleanJson } from "#server/platform/clean-text.ts";

test("what PostgreSQL cannot keep is taken out of texts and keys, and only that", () => {
  expect(parseCleanJson('{"a\\u0000":"x\\u0000y","b":["\\ud800","\\uD83D\\uDE00","\\\\u0000"],"__proto__":{"c":"\\u0000"}}')).toEqual(
    JSON.parse('{"a":"xy","b":["\\ufffd","😀","\\\\u0000"],"__proto__":{"c":""}}'),
  );
});

test("JSON that is clean is read as it is", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 5 }), (json) => {
      expect(parseCleanJson(json)).toEqual(JSON.parse(json));
    }),
  );
});

test.each(["[", '{"a":'])("JSON of %j is read to a depth and refused beyond it, however deep", (open) => {
  const close = open === "[" ? "]" : "}";
  const nested = (depth: number) => `${open.repeat(depth)}${open === "[" ? "" : "1"}${close.repeat(depth)}`;
  expect(() => parseCleanJson(nested(MAX_JSON_DEPTH))).not.toThrow();
  expect(() => parseCleanJson(nested(MAX_JSON_DEPTH + 1))).toThrow(RangeError);
  expect(() => parseCleanJson(open.repeat(2_000_000))).toThrow(RangeError);
});

test("brackets side by side or in texts are not depth", () => {
  const wide = JSON.stringify({ list: Array.from({ length: 500 }, () => [{}]), text: `${"[{".repeat(500)}\\"[` });
  expect(parseCleanJson(wide)).toEqual(JSON.parse(wide));
});

test("what is no JSON stays a syntax error", () => {
  for (const text of ["", "{x", "\u0000", '"\u0000"', "[1,]"]) expect(() => parseCleanJson(text)).toThrow(SyntaxError);
});
