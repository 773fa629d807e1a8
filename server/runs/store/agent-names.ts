import { pool } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

const NAMES = { name: "agent-names", text: "SELECT id, name FROM agents WHERE project_id = $1 AND id = ANY($2::uuid[])" };

/** Names of agents by their ids, as a statement on a workflow found them; null when it names none. */
export type AgentNames = Record<string, string> | null;

/** A column of a statement on `workflows w`: the names of the agents that its saved version or draft uses, so that they need no statement of their own. */
export const AGENTS_OF_WORKFLOW = `(
  SELECT jsonb_object_agg(a.id, a.name) FROM workflow_agent_uses u JOIN agents a ON a.id = u.agent_id AND a.project_id = w.project_id
  WHERE u.workflow_id = w.id) AS agents`;

/**
 * Names by id of those of `ids` that are agents of the project, beside those that are known.
 * @param found names already known, which are not looked up again
 */
export async function agentNames(project_id: string, ids: string[], found: AgentNames = null): Promise<Map<string, string>> {
  const names = new Map(Object.entries(found ?? {}));
  const unknown = ids.filter((id) => isUuid(id) && !names.has(id));
  if (unknown.length === 0) return names;
  const { rows } = await pool().query<{ id: string; name: string }>({ ...NAMES, values: [project_id, unknown] });
  for (const { id, name } of rows) names.set(id, name);
  return names;
}
