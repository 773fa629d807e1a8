import fc from "fast-check";
import { expect, test } from "vitest";
import { MAX_JSON_KEYS, MAX_JSON_PARTS, MAX_OBJECT_KEYS, parseApiJson, parseCleanJson } from "#server/platform/clean-text.ts";
import { MAX_JSON_DEPTH } from "#server/shared/json-depth.ts";

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

const objectOf = (keys: number) => `{${Array.from({ length: keys }, (_, at) => `"k${at}":":"`).join(",")}}`;

test("accepts an object with the largest number of keys", () => {
  expect(Object.keys(parseApiJson(objectOf(MAX_OBJECT_KEYS)) as object)).toHaveLength(MAX_OBJECT_KEYS);
});

test("refuses an object with more keys before it parses anything", () => {
  expect(() => parseApiJson(`[${objectOf(390_000)}`)).toThrow("An object in it has more than 10000 keys");
});

test("refuses objects with too many keys together", () => {
  const list = (objects: number) => `[${Array.from({ length: objects }, () => '{"a":1,"b":{"c":2}}').join(",")}]`;

  expect(parseApiJson(list(MAX_JSON_KEYS / 4))).toHaveLength(MAX_JSON_KEYS / 4);
  expect(() => parseApiJson(list(MAX_JSON_KEYS))).toThrow("more than 200000 keys together");
});

test.each(["{}", "[]"])("refuses JSON with too many of %s before it parses anything", (part) => {
  const list = (length: number) => `[${Array.from({ length }, () => part).join()}]`;

  expect(parseApiJson(list(MAX_JSON_PARTS - 1))).toHaveLength(MAX_JSON_PARTS - 1);
  for (const parse of [parseApiJson, parseCleanJson])
    expect(() => parse(list(MAX_JSON_PARTS))).toThrow("more than 200000 objects and lists");
});

test("bounds the keys of one object only where a schema checks the body", () => {
  expect(Object.keys(parseCleanJson(objectOf(MAX_OBJECT_KEYS + 1)) as object)).toHaveLength(MAX_OBJECT_KEYS + 1);
});
