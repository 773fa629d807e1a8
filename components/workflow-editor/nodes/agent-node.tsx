import { Bot } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import type { NodeUi } from "#components/workflow-editor/nodes/types.ts";

export const agentNodeUi: NodeUi<"agentNode"> = {
  icon: Bot,
  role: "agent",
  choices: {
    on_error: {
      fail: { label: "End the run", description: "The run fails with the error" },
      continue: { label: "Go on", description: "The error text is passed on as the output" },
    },
  },
  sentence({ agent_id, input }, lookups) {
    const name = agent_id ? lookups.agentName(agent_id) : undefined;
    const agent = name
      ? { chip: name }
      : name === null
        ? { chip: "…", tone: "quiet" as const }
        : { chip: "an agent", tone: "missing" as const };
    return ["Ask ", agent, ": ", ...(input.trim() ? templateChips(input) : [{ chip: "what came before", tone: "quiet" as const }])];
  },
};
