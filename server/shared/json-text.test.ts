import { expect, test } from "vitest";
import { isExactNumber, objectText, parseJson } from "#server/shared/json-text.ts";

test("whole numbers beyond what JavaScript holds keep every digit", () => {
  const text = '{"id":12345678901234567890,"list":[-9007199254740993,9007199254740991],"text":"12345678901234567890"}';
  const value = parseJson(text) as { id: unknown; list: unknown[] };
  expect(JSON.stringify(value)).toBe(text);
  expect(isExactNumber(value.id)).toBe(true);
  expect(value.list[1]).toBe(9_007_199_254_740_991);
});

test("other numbers are read as ever", () => {
  expect(parseJson("[0.12345678901234567890,1e400,1234567890123456,-0]")).toEqual([
    0.123_456_789_012_345_68,
    Infinity,
    1_234_567_890_123_456,
    -0,
  ]);
  expect(() => parseJson("[12345678901234567890")).toThrow(SyntaxError);
});

test("several values under one name are all kept", () => {
  const entries: [string, string][] = [
    ["Output", "one"],
    ["Output 2", "two"],
    ["Output", "[3]"],
  ];
  expect(JSON.parse(objectText(entries))).toEqual({ Output: "one", "Output 2": "two", "Output 3": [3] });
});
