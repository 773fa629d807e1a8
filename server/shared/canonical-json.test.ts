import fc from "fast-check";
import { expect, test } from "vitest";
import { canonicalPieces } from "#server/shared/canonical-json.ts";

const text = (value: unknown) => [...canonicalPieces(value)].join("");

test("writes equal values alike whatever the order of their keys", () => {
  const value = { b: [{ d: 1, c: [2, { f: null, e: "x" }] }], a: true };

  expect(text(value)).toBe('{"a":true,"b":[{"c":[2,{"e":"x","f":null}],"d":1}]}');
});

test("leaves out fields without a value", () => {
  expect(text({ a: undefined, b: [{ c: undefined }] })).toBe('{"b":[{}]}');
});

test("writes the same JSON in pieces as at once", () => {
  fc.assert(
    fc.property(fc.json(), (json) => {
      const value: unknown = JSON.parse(json);

      expect(JSON.parse(text(value))).toEqual(value);
      expect(text(value)).toBe([...canonicalPieces(value, 1)].join(""));
    }),
  );
});

test("writes keys that are numbers first, as objects keep them", () => {
  expect(text({ "": { "": 1, 10: 2, 9: 3 } })).toBe('{"":{"9":3,"10":2,"":1}}');
});

test("writes each node of a graph as a piece", () => {
  const nodes = Array.from({ length: 20 }, (_, index) => ({ id: `n${index}`, data: { content: "y".repeat(1000) } }));

  const pieces = [...canonicalPieces({ nodes, edges: [] })];

  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThan(1100);
});
