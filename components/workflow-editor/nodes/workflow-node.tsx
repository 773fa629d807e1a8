import { Workflow } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

export const workflowNodeUi: NodeUi<"workflowNode"> = {
  icon: Workflow,
  role: "flow",
  waits: () => "Waiting for the other workflow",
  firstPin: "",
  choices: { on_error: ON_ERROR },
  fields: () => ["workflow_id", "version", "input", "params", "on_error"],
  sentence({ workflow_id, version, input, params }) {
    const names = Object.keys(params);
    const given = names.length
      ? names.map((name) => ({ chip: name }))
      : input.trim()
        ? templateChips(input)
        : [{ chip: "what came before", tone: "quiet" as const }];
    const which = workflow_id ? { workflow: workflow_id } : { chip: "a workflow", tone: "missing" as const };
    return ["Run ", which, ...(version === "current" ? [] : [` version ${version}`]), " with ", ...given];
  },
};
