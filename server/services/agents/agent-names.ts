import { db } from "#server/db/client.ts";
import { isUuid } from "#server/services/ids.ts";

/** Names by id of those of `ids` that are agents of the project. */
export async function agentNames(project_id: string, ids: string[]): Promise<Map<string, string>> {
  const known = ids.filter(isUuid);
  if (known.length === 0) return new Map();
  const agents = await db().agent.findMany({ where: { project_id, id: { in: known } }, select: { id: true, name: true } });
  return new Map(agents.map((agent) => [agent.id, agent.name]));
}
