import { Split } from "lucide-react";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

/** So many cases stand on the card. */
const MOST = 4;

export const switchNodeUi: NodeUi<"switchNode"> = {
  icon: Split,
  role: "logic",
  firstPin: "default",
  choices: { on_error: { ...ON_ERROR, continue: { label: "Go on", description: "It leaves by default, with what came to it" } } },
  sentence({ cases }) {
    const parts = cases
      .slice(0, MOST)
      .flatMap(({ id, label, condition }, index) => [
        ...(index > 0 ? [", "] : []),
        condition.trim() ? { chip: label.trim() || id } : { chip: label.trim() || id, tone: "missing" as const },
      ]);
    return ["Choose ", ...parts, ...(cases.length > MOST ? [` and ${cases.length - MOST} more`] : []), ", or default"];
  },
};
