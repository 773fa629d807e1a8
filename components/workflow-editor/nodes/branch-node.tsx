import { GitFork } from "lucide-react";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

export const branchNodeUi: NodeUi<"branchNode"> = {
  icon: GitFork,
  role: "logic",
  firstPin: "True",
  sentence: ({ condition }) => ["If ", condition.trim() ? { condition } : { chip: "a condition", tone: "missing" }],
};
