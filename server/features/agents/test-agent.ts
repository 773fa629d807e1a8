import type { z } from "zod";
import { agentReply } from "#server/features/agents/agent-reply.ts";
import { askAgent } from "#server/features/agents/ask-agent.ts";
import type { AgentReply, TestAgentInput } from "#server/features/agents/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

const TIMEOUT_MS = 120_000;

/**
 * Asks an agent once and waits for the whole answer.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR with the provider's message
 */
export async function testAgent(principal: ProjectPrincipal, { agent_id, message }: z.infer<typeof TestAgentInput>): Promise<AgentReply> {
  const result = await askAgent({ project_id: principal.project.id, agent_id, message, timeoutMs: TIMEOUT_MS, retries: 1 });
  return agentReply(result);
}
