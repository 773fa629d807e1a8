import { expect, test } from "vitest";
import { templateChips } from "#components/nodes/template-chips.ts";

test.each([
  ["**Approved by a manager:** ", "Approved by a manager:"],
  ["# Report\n\nAll **good**", "Report All good"],
  ["Run `make` in [the guide](https://example.com/guide)", "Run make in the guide"],
  ["2**3 and a * b", "2**3 and a * b"],
  ["# 1 of #2", "1 of #2"],
])("a card shows %s as plain text", (template, shown) => {
  expect(templateChips(template).join("").trim()).toBe(shown);
});

test("signs around an expression go too", () => {
  expect(templateChips("**By {{trigger.name}}** today")).toEqual(["By ", { chip: "trigger.name", tone: "expression" }, " today"]);
});
