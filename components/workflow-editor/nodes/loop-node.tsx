import { Repeat } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

export const loopNodeUi: NodeUi<"loopNode"> = {
  icon: Repeat,
  role: "logic",
  firstPin: "[]",
  choices: {
    on_item_error: {
      fail: { label: "Fail the loop", description: "The run fails with the item's error" },
      continue: { label: "Go on", description: "The error stands in the item's place" },
    },
  },
  sentence: ({ items_expression, concurrency, on_item_error }) => [
    "For each of ",
    ...(items_expression.trim() ? templateChips(items_expression) : [{ chip: "a list", tone: "missing" as const }]),
    ...(concurrency > 1 ? [", ", { chip: String(concurrency) }, " at a time"] : []),
    ...(on_item_error === "continue" ? [", errors kept"] : []),
  ],
};
