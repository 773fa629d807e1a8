import { CircleStop } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

export const terminateNodeUi: NodeUi<"terminateNode"> = {
  icon: CircleStop,
  role: "flow",
  choices: {
    status: {
      completed: { label: "Completed", description: "All is well: nothing more is to be done" },
      failed: { label: "Failed", description: "The message is the run's error" },
    },
  },
  sentence: ({ status, message }) => [
    "End the run as ",
    { chip: status },
    ": ",
    ...(message.trim() ? templateChips(message) : [{ chip: "what came before", tone: "quiet" as const }]),
  ],
};
