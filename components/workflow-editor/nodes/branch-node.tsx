import { GitFork } from "lucide-react";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

const MAX_CHARACTERS = 120;

export const branchNodeUi: NodeUi<"branchNode"> = {
  icon: GitFork,
  role: "logic",
  firstPin: "True",
  sentence({ condition }) {
    const text = condition.trim().replace(/\s+/g, " ");
    if (text === "") return ["If ", { chip: "a condition", tone: "missing" }];
    return ["If ", { chip: text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}…` : text, tone: "code" }];
  },
};
