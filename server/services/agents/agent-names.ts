import { pool } from "#server/db/client.ts";
import { isUuid } from "#server/services/ids.ts";

const NAMES = { name: "agent-names", text: "SELECT id, name FROM agents WHERE project_id = $1 AND id = ANY($2::uuid[])" };

/** Names by id of those of `ids` that are agents of the project. */
export async function agentNames(project_id: string, ids: string[]): Promise<Map<string, string>> {
  const known = ids.filter(isUuid);
  if (known.length === 0) return new Map();
  const { rows } = await pool().query<{ id: string; name: string }>({ ...NAMES, values: [project_id, known] });
  return new Map(rows.map(({ id, name }) => [id, name]));
}
