import { convertValue } from "#server/features/workflow-files/n8n/expressions.ts";
import type { Find } from "#server/features/workflow-files/n8n/javascript.ts";
import { at, isRecord, type Json, listOf, recordOf, shown, wordOf } from "#server/features/workflow-files/n8n/source.ts";
import { type ConditionRow, OPERATORS, type Operand, type Operator, writeConditionRows } from "#server/workflow/condition-rows.ts";

// The conditions of If, Filter and Switch as Python, in the rows of the panel where they can be.

interface Test {
  left: unknown;
  operation: string;
  right: unknown;
  /** string, number, boolean, dateTime, array, object. */
  type: string;
}

interface Tests {
  isAny: boolean;
  ignoresCase: boolean;
  tests: readonly Test[];
}

/** An operator of ours, and whether it is turned round. */
type Meaning = readonly [operator: Operator, isNot?: true];

const SAME: Readonly<Record<string, Operator>> = { number: "equals", dateTime: "on" };
const OTHER: Readonly<Record<string, Operator>> = { number: "equals_not" };

/** What an operation means, where that does not hang on the type. */
const MEANINGS: ReadonlyMap<string, Meaning> = new Map<string, Meaning>([
  ["contains", ["contains"]],
  ["notContains", ["contains_not"]],
  ["startsWith", ["starts"]],
  ["notStartsWith", ["starts", true]],
  ["endsWith", ["ends"]],
  ["notEndsWith", ["ends", true]],
  ["regex", ["matches"]],
  ["notRegex", ["matches", true]],
  ["empty", ["empty"]],
  ["isEmpty", ["empty"]],
  ["notExists", ["empty"]],
  ["notEmpty", ["not_empty"]],
  ["isNotEmpty", ["not_empty"]],
  ["exists", ["not_empty"]],
  ["smaller", ["less"]],
  ["lt", ["less"]],
  ["smallerEqual", ["at_most"]],
  ["lte", ["at_most"]],
  ["larger", ["greater"]],
  ["gt", ["greater"]],
  ["largerEqual", ["at_least"]],
  ["gte", ["at_least"]],
  ["before", ["before"]],
  ["after", ["after"]],
  ["beforeOrEquals", ["after", true]],
  ["afterOrEquals", ["before", true]],
  ["lengthEquals", ["length"]],
  ["lengthNotEquals", ["length", true]],
  ["lengthGt", ["longer"]],
  ["lengthLt", ["shorter"]],
  ["lengthGte", ["shorter", true]],
  ["lengthLte", ["longer", true]],
]);

function meaningOf({ operation, type }: Test): Meaning | undefined {
  if (operation === "equal" || operation === "equals") return Object.hasOwn(SAME, type) ? [SAME[type] as Operator] : ["is"];
  if (operation === "notEqual" || operation === "notEquals")
    return type === "dateTime" ? ["on", true] : [Object.hasOwn(OTHER, type) ? (OTHER[type] as Operator) : "is_not"];
  if (type === "array" && operation === "contains") return ["has"];
  if (type === "array" && operation === "notContains") return ["has_not"];
  return MEANINGS.get(operation);
}

const isExpression = (value: unknown) => typeof value === "string" && value.startsWith("=");

function operandOf(value: unknown, operator: Operator, find: Find, itemOf: string | undefined): Operand | undefined {
  if (OPERATORS[operator].takes === null) return null;
  if (!isExpression(value)) {
    const text = shown(value);
    if (operator === "matches") return { text: /^\/([\s\S]*)\/[a-z]*$/.exec(text)?.[1] ?? text };
    return { text: operator === "on" || operator === "before" || operator === "after" ? text.slice(0, 10) : text };
  }
  const code = convertValue(value, find, itemOf);
  return code === undefined ? undefined : { value: code };
}

function testCode(test: Test, ignoresCase: boolean, find: Find, itemOf: string | undefined): string | undefined {
  const isTrue = test.type === "boolean" && (test.operation === "true" || test.operation === "false");
  const [operator, isNot] = (isTrue ? (["is"] as Meaning) : meaningOf(test)) ?? [];
  const value = convertValue(test.left, find, itemOf);
  // A field that is empty text is there.
  const isPresence = test.operation === "exists" || test.operation === "notExists";
  if (isPresence && value?.startsWith("json.loads(") && value.endsWith("]"))
    return `${value.replace(/\[("(?:[^"\\]|\\.)*")\]$/, ".get($1)")} is ${test.operation === "exists" ? "not None" : "None"}`;

  if (operator === undefined || value === undefined) return undefined;
  const operand = isTrue ? { text: test.operation } : operandOf(test.right, operator, find, itemOf);
  if (operand === undefined) return undefined;
  const row: ConditionRow = {
    ...{ value, operator, operand },
    ignoresCase: (ignoresCase || test.type === "boolean") && OPERATORS[operator].folded !== undefined,
  };
  // An empty text is compared as a text; a row takes it for not filled in.
  if (operand !== null && "text" in operand && operand.text === "" && (operator === "is" || operator === "is_not"))
    return writeConditionRows({
      match: "all",
      rows: [{ ...row, operator: operator === "is" ? "empty" : "not_empty", operand: null, ignoresCase: false }],
    });
  const code = writeConditionRows({ match: "all", rows: [row] });
  return isNot ? `not (${code})` : code;
}

/** The tests as remarks in Python, for a person to write anew: a condition of remarks alone is a problem. */
const asRemarks = ({ tests, isAny }: Tests): string =>
  tests
    .map(({ left, operation, right }) => `n8n: ${shown(left).slice(0, 500)} ${operation} ${shown(right).slice(0, 500)}`)
    .join(isAny ? "\nor " : "\nand ")
    .replace(/^/gm, "# ");

const MOST_CHARACTERS = 10_000;

/** A condition that says the same as the tests, or what they said as remarks. */
export function conditionOf(tests: Tests, find: Find, itemOf: string | undefined): string {
  const codes = tests.tests.map((test) => testCode(test, tests.ignoresCase, find, itemOf));
  const whole = codes.join(tests.isAny ? "\nor " : "\nand ");
  const text = codes.includes(undefined) || whole.length > MOST_CHARACTERS ? asRemarks(tests) : whole;
  return text.slice(0, MOST_CHARACTERS).toWellFormed();
}

/** `{conditions: [{leftValue, operator, rightValue}], combinator}`, from version 2 of If and Filter on. */
export function newTests(value: unknown): Tests {
  return {
    isAny: at(value, "combinator") === "or",
    ignoresCase: at(value, "options", "caseSensitive") === false,
    tests: listOf(at(value, "conditions")).map((one) => ({
      left: at(one, "leftValue"),
      operation: wordOf(at(one, "operator", "operation"), "equals"),
      right: at(one, "rightValue"),
      type: wordOf(at(one, "operator", "type"), "string"),
    })),
  };
}

/** What a comparison is when the file does not say, by type. */
const USUAL: Readonly<Record<string, string>> = { number: "smaller", dateTime: "after" };

/** One comparison of version 1, in which only what is not usual was written down. */
export const oldTest = (one: unknown, type: string, left: unknown): Test => ({
  left,
  operation: wordOf(at(one, "operation"), Object.hasOwn(USUAL, type) ? USUAL[type] : "equal"),
  right: at(one, "value2") ?? (type === "boolean" ? false : type === "number" ? 0 : ""),
  type,
});

/** `{string: [{value1, operation, value2}], number: […], …}`, of version 1. */
export function oldTests(conditions: unknown, isAny: boolean): Tests {
  const tests = Object.entries(recordOf(conditions)).flatMap(([type, list]) =>
    listOf(list)
      .filter((one): one is Json => isRecord(one))
      .map((one) => oldTest(one, type, at(one, "value1"))),
  );
  return { isAny, ignoresCase: false, tests };
}

/** The tests of an If or a Filter of any version. */
export const testsOf = (parameters: Json): Tests =>
  Array.isArray(at(parameters, "conditions", "conditions"))
    ? newTests(at(parameters, "conditions"))
    : oldTests(at(parameters, "conditions"), at(parameters, "combineOperation") === "any");
