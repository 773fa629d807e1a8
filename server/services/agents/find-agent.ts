import type { Prisma } from "#prisma/generated/client.ts";
import { pool } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { withLinks } from "#server/services/agents/agent-dto.ts";
import { isUuid } from "#server/services/ids.ts";

type AgentRow = Prisma.AgentGetPayload<{ include: typeof withLinks & { llm_key: true } }>;
/** As PostgreSQL writes it in JSON: times are text there. */
type Written<Row, Times extends keyof Row> = Omit<Row, Times> & Record<Times, string>;
interface Found {
  agent: Written<Omit<AgentRow, "llm_key" | keyof typeof withLinks>, "created_at" | "updated_at">;
  llm_key: Written<AgentRow["llm_key"], "created_at">;
  mcp_server_ids: string[];
  rag_source_ids: string[];
  skill_ids: string[];
}

// Each agent node asks it, so it is one statement and not one for each relation.
const FIND = {
  name: "find-agent",
  text: `SELECT to_jsonb(a) AS agent, to_jsonb(k) AS llm_key,
           to_jsonb(ARRAY(SELECT mcp_server_id FROM agent_mcp_servers WHERE agent_id = a.id)) AS mcp_server_ids,
           to_jsonb(ARRAY(SELECT rag_source_id FROM agent_rag_sources WHERE agent_id = a.id)) AS rag_source_ids,
           to_jsonb(ARRAY(SELECT skill_id FROM agent_skills WHERE agent_id = a.id)) AS skill_ids
         FROM agents a JOIN llm_keys k ON k.id = a.llm_key_id WHERE a.id = $1 AND a.project_id = $2`,
};

/**
 * The stored agent with its key and links.
 * @throws AppError NOT_FOUND, also for an agent of another project
 */
export async function findAgent(projectId: string, agentId: string): Promise<AgentRow> {
  const { rows } = isUuid(agentId) ? await pool().query<Found>({ ...FIND, values: [agentId, projectId] }) : { rows: [] };
  const [row] = rows;
  if (!row) throw notFound("agent");
  const { agent, llm_key } = row;
  return {
    ...agent,
    created_at: new Date(agent.created_at),
    updated_at: new Date(agent.updated_at),
    llm_key: { ...llm_key, created_at: new Date(llm_key.created_at) },
    mcp_servers: row.mcp_server_ids.map((mcp_server_id) => ({ mcp_server_id })),
    rag_sources: row.rag_source_ids.map((rag_source_id) => ({ rag_source_id })),
    skills: row.skill_ids.map((skill_id) => ({ skill_id })),
  };
}
