import type { Agent, LlmKey } from "#prisma/generated/client.ts";

/** As PostgreSQL writes it in JSON: times are text there. */
type Written<Row, Times extends keyof Row> = Omit<Row, Times> & Record<Times, string>;
/** An agent with its key, which stays sealed, and the ids of its links, as `AGENT_JSON` gives it. */
export interface FoundAgent {
  agent: Written<Agent, "created_at" | "updated_at">;
  llm_key: Written<LlmKey, "created_at">;
  mcp_server_ids: string[];
  rag_source_ids: string[];
  skill_ids: string[];
}

/** SQL: an agent `a` whose key is `k`, as a `FoundAgent`. One value and not a statement for each relation, since each agent node asks for it. */
export const AGENT_JSON = `jsonb_build_object('agent', to_jsonb(a), 'llm_key', to_jsonb(k),
           'mcp_server_ids', ARRAY(SELECT mcp_server_id FROM agent_mcp_servers WHERE agent_id = a.id ORDER BY 1),
           'rag_source_ids', ARRAY(SELECT rag_source_id FROM agent_rag_sources WHERE agent_id = a.id ORDER BY 1),
           'skill_ids', ARRAY(SELECT skill_id FROM agent_skills WHERE agent_id = a.id ORDER BY 1))`;
