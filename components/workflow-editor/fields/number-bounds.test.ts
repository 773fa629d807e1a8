import { expect, test } from "vitest";
import { numberFault, typeNumber } from "#components/workflow-editor/fields/number-bounds.ts";

const day = { min: 1, max: 28, isInteger: true };

test.each(["1", "28", " 7 "])("accepts %j", (text) => expect(numberFault(text, day)).toBeUndefined());

test.each(["31", "0", "1.5", "", "three"])("names the bounds for %j", (text) =>
  expect(numberFault(text, day)).toBe("Enter a whole number from 1 to 28. The last valid value is kept."),
);

test("names the bound that there is", () => {
  expect(numberFault("0", { min: 1, max: Number.POSITIVE_INFINITY, isInteger: false })).toContain("a number of at least 1.");
  expect(numberFault("5", { min: undefined, max: 4, isInteger: false })).toContain("a number of at most 4.");
  expect(numberFault("x", { min: undefined, max: undefined, isInteger: false })).toContain("Enter a number. ");
});

test("keeps the value from before the typing when a valid prefix becomes invalid", () => {
  const typed = ["3", "31"].map((text) => typeNumber(text, 12, numberFault(text, day) === undefined));

  expect(typed).toEqual([
    { text: "3", before: 12, saved: 3 },
    { text: "31", before: 12, saved: 12 },
  ]);
});

test("takes a field away when it is emptied", () => {
  expect(typeNumber("", 12, true)).toEqual({ text: "", before: 12, saved: undefined });
});
