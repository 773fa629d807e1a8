import { expect, test } from "vitest";
import { conditionFault, evaluateCondition } from "#server/runs/effects/conditions.ts";
import { type Operand, type Operator, writeConditionRows } from "#server/workflow/condition-rows.ts";

// What rows write, by the interpreter that runs it.

const { signal } = new AbortController();
const row = (value: string, operator: Operator, operand: Operand | string = null, ignoresCase = false) => ({
  ...{ value, operator, ignoresCase },
  operand: typeof operand === "string" ? { text: operand } : operand,
});
const holds = (condition: string, output: string) =>
  evaluateCondition(condition, { output, trigger_output: "10", node_outputs: { 'A "b" \\ ü': "yes" } }, () => signal, "project");

const NASTY = `a "quoted" 'one' \\n \\ \n\t ü 😀 \u2028 {x} %s`;
const JSON_TEXT = JSON.stringify({
  score: 10,
  name: "Ann",
  none: null,
  list: ["a", 1],
  no: [],
  'k"\\': { deep: ["Ü"] },
  due: "2026-03-01",
  ok: true,
});
const part = (path: string) => `json.loads(output)${path}`;

test.each([
  ["well, YES", row("output", "contains", "Yes", true), true],
  ["well, YES", row("output", "contains", "Yes"), false],
  ["GRÜN", row("output", "is", "Grün", true), true],
  [NASTY, row("output", "is", NASTY), true],
  [NASTY.toUpperCase(), row("output", "is", NASTY, true), true],
  [`${NASTY}.`, row("output", "is", NASTY), false],
  [`${NASTY}.`, row("output", "starts", NASTY), true],
  [`.${NASTY}`, row("output", "ends", NASTY), true],
  ["Ticket 4711", row("output", "matches", String.raw`\bticket \d+`, true), true],
  ["Ticket 4711", row("output", "matches", String.raw`\bticket \d+`), false],
  [" \n", row("output", "empty"), true],
  [" a ", row("output", "not_empty"), true],
  // As texts, "10" comes before "9".
  ["10", row("output", "greater", "9"), true],
  ["10", row("output", "equals", "10.0"), true],
  ["-0.5\n", row("output", "less", "0"), true],
  ["9", row("output", "at_least", { value: "trigger_output" }), false],
  ["a 10 b", row("output", "contains", { value: "trigger_output" }), true],
  ["2026-01-31T23:59:00Z", row("output", "before", "2026-02-01"), true],
  [" 2026-02-01", row("output", "before", "2026-02-01"), false],
  ["2026-02-01 12:00", row("output", "on", "2026-02-01"), true],
  ["2026-10-01", row("output", "after", "2026-09-30"), true],
  ['["a", 1]', row("output", "has", "1"), true],
  ['["A"]', row("output", "has", "a", true), true],
  ['["a", 1]', row("output", "has_not", "b"), true],
  ['["a", 1]', row("output", "length", "2"), true],
  ['["a", 1]', row("output", "longer", "2"), false],
  ["[]", row("output", "shorter", "1"), true],
  [JSON_TEXT, row(part('["score"]'), "greater", "9"), true],
  [JSON_TEXT, row(part('["score"]'), "is", "10"), true],
  [JSON_TEXT, row(part('["name"]'), "starts", "an", true), true],
  [JSON_TEXT, row(part('["ok"]'), "is", "true", true), true],
  [JSON_TEXT, row(part('["none"]'), "empty"), true],
  [JSON_TEXT, row(part('["no"]'), "empty"), true],
  [JSON_TEXT, row(part('["nowhere"]'), "empty"), true],
  [JSON_TEXT, row(part('["list"]'), "not_empty"), true],
  [JSON_TEXT, row(part('["list"]'), "has", "a"), true],
  [JSON_TEXT, row(part('["list"]'), "longer", "1"), true],
  [JSON_TEXT, row(part(String.raw`["k\"\\"]["deep"][0]`), "is", "ü", true), true],
  [JSON_TEXT, row(part('["due"]'), "after", "2026-02-28"), true],
  ["any", row(String.raw`node_outputs["A \"b\" \\ ü"]`, "is", "yes"), true],
])("of %j, %j holds: %s", async (output, only, expected) => {
  const condition = writeConditionRows({ match: "all", rows: [only] });
  expect(await conditionFault(condition, "project", signal)).toBeUndefined();
  expect(await holds(condition, output)).toBe(expected);
});

test("all of the rows, or any of them", async () => {
  const rows = [row("output", "contains", "a"), row("output", "empty"), row("output", "contains_not", "c")];
  expect(await holds(writeConditionRows({ match: "all", rows }), "a")).toBe(false);
  expect(await holds(writeConditionRows({ match: "any", rows }), "a")).toBe(true);
  expect(await holds(writeConditionRows({ match: "any", rows }), "c")).toBe(false);
});

test.each([
  ["soon", row("output", "before", "2026-02-01"), "A date begins with its day, as in 2026-01-31."],
  ["many", row("output", "greater", "9"), "could not convert string to float: 'many'"],
])("what is no date or no number fails in words: %s", async (output, only, words) => {
  await expect(holds(writeConditionRows({ match: "all", rows: [only] }), output)).rejects.toThrow(words);
});

test("what is not filled in is a fault before a run", async () => {
  const rows = [row("output", "contains", "a"), row("output", "greater", null)];
  expect(await conditionFault(writeConditionRows({ match: "all", rows }), "project", signal)).toBe("Row 2: Say what follows “>”.");
});
