import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import { withLinks } from "#server/services/agents/agent-dto.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * The stored agent with its key and links.
 * @throws AppError NOT_FOUND, also for an agent of another project
 */
export async function findAgent(projectId: string, agentId: string) {
  const row = isUuid(agentId)
    ? await db().agent.findFirst({ where: { id: agentId, project_id: projectId }, include: { ...withLinks, llm_key: true } })
    : null;
  if (!row) throw notFound("agent");
  return row;
}
