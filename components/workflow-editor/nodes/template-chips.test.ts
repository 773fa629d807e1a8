import { expect, test } from "vitest";
import { chipProblem, templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import { findProblems } from "#server/workflow/problems.ts";

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

test("an expression that a problem of its node is about is known by its chip", () => {
  const graph = {
    nodes: [
      { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
      {
        id: "o",
        type: "outputNode",
        position: { x: 0, y: 0 },
        data: { label: "End", value: "{{ Strat.output }} {{trigger.output}} {{}}" },
      },
    ],
    edges: [{ id: "e", source: "t", target: "o" }],
  };
  const sentences = findProblems(graph, { agentName: () => undefined }).map(({ message }) => message);
  const marked = templateChips("{{ Strat.output }} {{trigger.output}} {{}}").flatMap((part) =>
    typeof part === "object" && "chip" in part ? [[part.chip, chipProblem(part.chip, sentences)?.replace(/ .*/s, "")]] : [],
  );
  expect(marked).toEqual([
    ["Strat.output", "{{"],
    ["trigger.output", undefined],
    ["", "{{}}"],
  ]);
});
