import { Bot } from "lucide-react";
import { templateChips } from "#components/workflow-editor/nodes/template-chips.ts";
import { type NodeUi, ON_ERROR } from "#components/workflow-editor/nodes/types.ts";

export const agentNodeUi: NodeUi<"agentNode"> = {
  icon: Bot,
  role: "agent",
  choices: { on_error: ON_ERROR },
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
