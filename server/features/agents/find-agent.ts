import type { Prisma } from "#prisma/generated/client.ts";
import type { withLinks } from "#server/features/agents/agent-dto.ts";
import { pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

type AgentRow = Prisma.AgentGetPayload<{ include: typeof withLinks & { llm_key: true } }>;
/** As PostgreSQL writes it in JSON: times are text there. */
type Written<Row, Times extends keyof Row> = Omit<Row, Times> & Record<Times, string>;
/** An agent with its key, which stays sealed, and the ids of its links, as `AGENT_JSON` gives it. */
export interface FoundAgent {
  agent: Written<Omit<AgentRow, "llm_key" | keyof typeof withLinks>, "created_at" | "updated_at">;
  llm_key: Written<AgentRow["llm_key"], "created_at">;
  mcp_server_ids: string[];
  rag_source_ids: string[];
  skill_ids: string[];
}

/** SQL: an agent `a` whose key is `k`, as a `FoundAgent`. One value and not a statement for each relation, since each agent node asks for it. */
export const AGENT_JSON = `jsonb_build_object('agent', to_jsonb(a), 'llm_key', to_jsonb(k),
           'mcp_server_ids', ARRAY(SELECT mcp_server_id FROM agent_mcp_servers WHERE agent_id = a.id ORDER BY 1),
           'rag_source_ids', ARRAY(SELECT rag_source_id FROM agent_rag_sources WHERE agent_id = a.id ORDER BY 1),
           'skill_ids', ARRAY(SELECT skill_id FROM agent_skills WHERE agent_id = a.id ORDER BY 1))`;
const FIND = {
  name: "find-agent",
  text: `SELECT ${AGENT_JSON} AS found FROM agents a JOIN llm_keys k ON k.id = a.llm_key_id WHERE a.id = $1 AND a.project_id = $2`,
};

/**
 * The stored agent with its key and links.
 * @throws AppError NOT_FOUND, also for an agent of another project
 */
export async function findAgent(projectId: string, agentId: string): Promise<AgentRow> {
  const { rows } = isUuid(agentId) ? await pool().query<{ found: FoundAgent }>({ ...FIND, values: [agentId, projectId] }) : { rows: [] };
  if (!rows[0]) throw notFound("agent");
  return agentOf(rows[0].found);
}

/** The stored agent, out of what a statement has found. */
export function agentOf({ agent, llm_key, ...links }: FoundAgent): AgentRow {
  return {
    ...agent,
    created_at: new Date(agent.created_at),
    updated_at: new Date(agent.updated_at),
    llm_key: { ...llm_key, created_at: new Date(llm_key.created_at) },
    mcp_servers: links.mcp_server_ids.map((mcp_server_id) => ({ mcp_server_id })),
    rag_sources: links.rag_source_ids.map((rag_source_id) => ({ rag_source_id })),
    skills: links.skill_ids.map((skill_id) => ({ skill_id })),
  };
}
