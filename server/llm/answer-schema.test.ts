import { expect, test } from "vitest";
import { answerCheck, schemaProblem } from "#server/llm/answer-schema.ts";

const schema = {
  type: "object",
  properties: { city: { type: "string" }, size: { type: "integer" } },
  required: ["city"],
  additionalProperties: false,
};

test.each([
  ['{"city":"Como"}', '{"city":"Como"}'],
  ['  {"city":"Como","size":3}\n', '{"city":"Como","size":3}'],
  ['Here it is:\n```json\n{"city":"Como"}\n```\nDone.', '{"city":"Como"}'],
  ['Sure! {"city":"Como"} is what you asked for.', '{"city":"Como"}'],
])("finds the JSON in %j", (text, json) => {
  expect(answerCheck(schema)(text)).toEqual({ json });
});

test.each([
  ["", "it is empty"],
  ["no JSON at all", "it is not JSON"],
  ['{"city":', "it is not JSON"],
  ['{"size":1}', "city: "],
  ['{"city":"Como","size":1.5}', "size: "],
  ['{"city":"Como","more":1}', "more"],
])("says what is wrong with %j", (text, problem) => {
  expect(answerCheck(schema)(text)).toEqual({ problem: expect.stringContaining(problem) });
});

test("a schema that is no object at its root works too", () => {
  expect(answerCheck({ type: "array", items: { type: "number" } })("[1, 2]")).toEqual({ json: "[1, 2]" });
  expect(answerCheck({ $defs: { a: { type: "string" } }, $ref: "#/$defs/a" })('"x"')).toEqual({ json: '"x"' });
});

test("a pattern that would run for ever over a text is stopped", () => {
  const check = answerCheck({ type: "object", properties: { a: { type: "string", pattern: "^(a+)+$" } } });
  expect(check(JSON.stringify({ a: `${"a".repeat(60)}!` }))).toEqual({ problem: "a pattern of the schema takes too long over it" });
});

test.each([
  [{ type: "nope" }, "nope"],
  [{ type: "object", properties: { a: { $ref: "https://example.com/a" } } }, "External $ref"],
  [{ type: "string", pattern: "(" }, "Invalid regular expression"],
  [{ if: { type: "string" }, type: "object" }, "Conditional schemas"],
])("%j cannot be checked, and the sentence says why", (bad, why) => {
  expect(schemaProblem(bad)).toContain(why);
});

test("a schema that can be checked has no problem", () => {
  expect(schemaProblem(schema)).toBeUndefined();
  expect(schemaProblem({})).toBeUndefined();
});

test("an answer of open fences and blank lines is read at once", () => {
  const blank = "\n".repeat(20_000);
  expect(answerCheck(schema)(`\`\`\`json${blank}x`)).toEqual({ problem: "it is not JSON" });
  expect(answerCheck(schema)("```\n".repeat(20_001))).toEqual({ problem: "it is not JSON" });
  expect(answerCheck(schema)(`\`\`\`json${blank}{"city":"Como"}${blank}\`\`\``)).toEqual({ json: '{"city":"Como"}' });
});

/** An object in an object, so many times. */
const nested = (times: number): Record<string, unknown> => (times === 0 ? { type: "string" } : { type: "array", items: nested(times - 1) });
const many = (count: number) => Array.from({ length: count }, (_, n) => `v${n}`);

test.each<[string, Record<string, unknown>, string]>([
  ["levels", nested(40), "It is nested deeper than 32 levels. Name inner schemas under $defs and refer to them."],
  ["values of an enum", { enum: many(1001) }, "Its enums have 1,001 values together, more than 1,000."],
  [
    "values of enums together",
    { anyOf: [{ enum: many(600) }, { items: { enum: many(600) } }] },
    "Its enums have 1,200 values together, more than 1,000.",
  ],
  ["properties", { properties: Object.fromEntries(many(2001).map((name) => [name, {}])) }, "It has 2,001 properties, more than 2,000."],
  ["characters", { description: "x".repeat(70_000) }, "It has 70,018 characters, more than 65,536."],
  ["characters of a pattern", { pattern: "(a|b)".repeat(300) }, "It has a pattern of 1,500 characters, more than 1,000."],
])("too many %s are refused, with how many there may be", (_, schema, excess) => {
  expect(schemaProblem(schema)).toBe(`This JSON Schema is too large. ${excess}`);
});

test("a large schema within the bounds is taken", () => {
  expect(schemaProblem({ ...nested(15), $defs: { kind: { enum: many(1000) } } })).toBeUndefined();
});
