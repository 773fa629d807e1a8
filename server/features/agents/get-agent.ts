import { toAgent } from "#server/features/agents/agent-dto.ts";
import { findAgent } from "#server/features/agents/find-agent.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/**
 * One agent of the project.
 * @throws AppError NOT_FOUND
 */
export async function getAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<Agent> {
  return toAgent(await findAgent(principal.project.id, agent_id));
}
