import { z } from "zod";
import { defineNode, onError, template } from "#server/workflow/nodes/definition.ts";

/** What an import left open of the agent: its name, and the names of what it is to have (services/workflow-files). */
const Imported = z.looseObject({
  agent_id: z.string(),
  name: z.string(),
  mcp_servers: z.array(z.string()),
  rag_sources: z.array(z.string()),
  skills: z.array(z.string()),
});

/** What is still to be linked of the agent that an import brought, as a sentence. */
function importFault(agent_id: string, imported_agent: unknown): string | undefined {
  const { data: imported } = Imported.safeParse(imported_agent);
  if (!imported || imported.agent_id !== agent_id) return undefined;
  if (!agent_id) return `Choose an agent, or create “${imported.name}” as the imported file describes it.`;
  const open = [...imported.mcp_servers, ...imported.rag_sources, ...imported.skills].map((name) => `“${name}”`);
  return open.length ? `“${imported.name}” is to have ${open.join(", ")} too, which the import left open. Add it to the agent.` : undefined;
}

/** How an admin decided what waited for a budget (features/budgets/schema.ts). */
const Allowed = z.object({ decision: z.enum(["approved", "rejected"]), comment: z.string().nullish() });

export const agentNode = defineNode({
  type: "agentNode",
  title: "Agent",
  summary: "Asks one of the project's agents",
  group: "agent",
  hasInput: true,
  handles: null,
  isEffect: true,
  readsSecrets: true,
  config: z.looseObject({
    agent_id: z.string().max(64).default("").meta({ title: "Agent", widget: "agent" }),
    input: z
      .string()
      .max(200_000)
      .default("")
      .meta({ title: "Input", description: "What to ask; empty passes on what came before", widget: "textarea", ...template }),
    timeout: z.number().int().min(1).max(3600).default(120).meta({ title: "Timeout", description: "Most seconds to wait", advanced: true }),
    retries: z
      .number()
      .int()
      .min(0)
      .max(5)
      .default(2)
      .meta({ title: "Retries", description: "Further tries when the provider is busy or the line drops", advanced: true }),
    on_error: onError,
  }),
  alias: ({ agent_id }, scope) => scope.agentName(agent_id),
  reachesOut: ({ agent_id }, hasReach) => hasReach(agent_id),
  pin: () => ({ handle: null }),
  problems({ agent_id, imported_agent }, scope) {
    const fault = importFault(agent_id, imported_agent);
    if (fault || !agent_id) return [{ field: "agent_id", message: fault ?? "Choose an agent." }];
    if (!scope.agentName(agent_id))
      return [{ field: "agent_id", message: "The agent that this node names is not in this project. Choose another." }];
    return [];
  },
  run: ({ config, upstream, callAgent }) =>
    callAgent({
      agent_id: config.agent_id,
      message: config.input.trim() === "" ? upstream : config.input,
      timeout: config.timeout,
      retries: config.retries,
    }),
  // It waits for nothing but a budget: server/decisions/0033.
  waitsSeldom: true,
  resume(end) {
    if (end.status === "expired")
      throw new Error("A budget is used up, and the run was not allowed to spend more in time. Raise the budget, then run it again.");
    const { decision, comment } = Allowed.parse(end.outcome);
    if (decision === "approved") return { again: true };
    throw new Error(`A budget is used up, and an admin did not allow this run to spend more${comment ? `: ${comment}` : "."}`);
  },
});
