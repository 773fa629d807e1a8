import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Agent } from "#server/schemas/agent.ts";
import { toAgent } from "#server/services/agents/agent-dto.ts";
import { findAgent } from "#server/services/agents/find-agent.ts";

/**
 * One agent of the project.
 * @throws AppError NOT_FOUND
 */
export async function getAgent(principal: ProjectPrincipal, { agent_id }: { agent_id: string }): Promise<Agent> {
  return toAgent(await findAgent(principal.project.id, agent_id));
}
