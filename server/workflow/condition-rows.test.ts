import fc from "fast-check";
import { expect, test } from "vitest";
import { times } from "#server/testing/times.ts";
import {
  type ConditionRow,
  canIgnoreCase,
  conditionRowProblems,
  isRowValue,
  OPERATORS,
  type Operator,
  readConditionRows,
  valueName,
  writeConditionRows,
} from "#server/workflow/condition-rows.ts";
import { pythonString } from "#server/workflow/python-string.ts";

const text = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom('"', "'", "\\", "\\n", '"""', "a\nb", "ß", "Ä ", " and ", "\u2028", "\0", "..."),
);
const whole = fc.oneof(
  fc.constantFrom("output", "trigger_output"),
  text.map((name) => `node_outputs[${pythonString(name)}]`),
);
const step = fc.oneof(text.map(pythonString), fc.nat({ max: 999 }).map(String));
const part = fc
  .tuple(whole, fc.array(step, { minLength: 1, maxLength: 3 }))
  .map(([value, steps]) => `json.loads(${value})${steps.map((key) => `[${key}]`).join("")}`);
const value = fc.oneof(whole, part);

const row = fc
  .record({
    value,
    operator: fc.constantFrom(...(Object.keys(OPERATORS) as Operator[])), // cast: its keys are the operators
    operand: fc.oneof(
      fc.constant(null),
      value.map((code) => ({ value: code })),
      fc.oneof(text, fc.constantFrom("10", "-0.5", "1e3", "007", "2026-01-31", "Yes")).map((typed) => ({ text: typed })),
    ),
    ignoresCase: fc.boolean(),
  })
  .filter(({ operand }) => operand === null || !("text" in operand) || operand.text !== "")
  .map(
    (made): ConditionRow => ({
      ...made,
      operand: OPERATORS[made.operator].takes === null ? null : made.operand,
      // Without an operand there is nothing to tell capital letters of.
      ignoresCase: made.ignoresCase && canIgnoreCase(made.operator),
    }),
  );

test("what rows write is read back as the same rows", () => {
  fc.assert(
    fc.property(fc.array(row, { maxLength: 4 }), fc.constantFrom("all" as const, "any" as const), (rows, wanted) => {
      const match = rows.length < 2 ? ("all" as const) : wanted;
      expect(readConditionRows(writeConditionRows({ match, rows }))).toEqual({ match, rows });
    }),
    { numRuns: times(250) },
  );
});

test.each([
  ['"yes" in output.lower()', { value: "output", operator: "contains", operand: { text: "yes" }, ignoresCase: true }],
  [
    "  'it\\'s' not in trigger_output ",
    { value: "trigger_output", operator: "contains_not", operand: { text: "it's" }, ignoresCase: false },
  ],
  [
    `node_outputs['A "b"'] == "x"`,
    { value: String.raw`node_outputs["A \"b\""]`, operator: "is", operand: { text: "x" }, ignoresCase: false },
  ],
  [
    "float(json.loads(output)['score'])>=7.5",
    { value: 'json.loads(output)["score"]', operator: "at_least", operand: { text: "7.5" }, ignoresCase: false },
  ],
])("%s, written by hand, is a row", (condition, expected) => {
  expect(readConditionRows(condition)).toEqual({ match: "all", rows: [expected] });
});

test.each([
  "True",
  "len(output) > 3",
  '"Yes" in output.lower()', // never holds, which no row says
  '"yes" in output and "no" in output or "x" in output',
  'not ("yes" in output)',
  '"yes" in output # why',
  'r"\\d" in output',
  'f"{output}" == "a"',
  '"\\0" in output',
  '"a" "b" in output',
  '"a" in output and',
  'and "a" in output',
  '"a" in outputs',
  'output == ""',
  '"a" == output == "b"',
  'json.loads(output) == "a"',
])("%s is left to those who write Python", (condition) => {
  expect(readConditionRows(condition)).toBeNull();
  expect(conditionRowProblems(condition)).toEqual([]);
});

test("an empty condition has no rows yet", () => {
  expect(readConditionRows(" \n")).toEqual({ match: "all", rows: [] });
});

test("what is not filled in is written as a gap, and said", () => {
  const one: ConditionRow = { value: "output", operator: "contains", operand: null, ignoresCase: true };
  const gap = writeConditionRows({ match: "all", rows: [one] });
  expect(conditionRowProblems(gap)).toEqual(["Say what follows “contains”."]);
  const rows: ConditionRow[] = [
    { ...one, operand: { text: "x" } },
    { value: "output", operator: "greater", operand: { text: "1,5" }, ignoresCase: false },
    { value: "output", operator: "before", operand: { text: "tomorrow" }, ignoresCase: false },
    { value: "output", operator: "empty", operand: null, ignoresCase: false },
  ];
  expect(conditionRowProblems(writeConditionRows({ match: "any", rows }))).toEqual([
    "Row 2: “1,5” is not a number. Write it like 12 or 0.5.",
    "Row 3: “tomorrow” is not a date. Write it like 2026-01-31.",
  ]);
});

test("a long text that is nearly rows is looked at in no time", () => {
  const near = `${'"a" in output and '.repeat(550)}"a" inn output`;
  expect(readConditionRows(near)).toBeNull();
  expect(readConditionRows(`${'"'.repeat(9_000)} in output`)).toBeNull();
  expect(readConditionRows(`json.loads(output)${"[0]".repeat(3_000)} == 1`)).toBeNull();
});

test("values that a row can have are told from other Python", () => {
  expect(isRowValue('json.loads(node_outputs["Scout"])["items"][0]')).toBe(true);
  expect(isRowValue("output.lower()")).toBe(false);
  expect(isRowValue("json.loads(output)")).toBe(false);
});

test.each([
  ["output", "output"],
  ["trigger_output", "trigger.output"],
  ['node_outputs["A (b)"]', "A (b).output"],
  ['json.loads(node_outputs["Scout"])["items"][0]["a b"]', "Scout.output.items[0].a b"],
])("%s is called %s", (code, name) => {
  expect(valueName(code)).toBe(name);
});
