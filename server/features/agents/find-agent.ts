import type { Prisma } from "#prisma/generated/client.ts";
import { Agent, AgentTool } from "#server/features/agents/schema.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { AGENT_JSON, type FoundAgent } from "#server/runs/store/agent-json.ts";

/** What a query must include for `toAgent`. */
export const withLinks = {
  mcp_servers: { select: { mcp_server_id: true }, orderBy: { mcp_server_id: "asc" } },
  rag_sources: { select: { rag_source_id: true }, orderBy: { rag_source_id: "asc" } },
  skills: { select: { skill_id: true }, orderBy: { skill_id: "asc" } },
} as const satisfies Prisma.AgentInclude;

type AgentRow = Prisma.AgentGetPayload<{ include: typeof withLinks }>;
export type KeyedAgentRow = Prisma.AgentGetPayload<{ include: typeof withLinks & { llm_key: true } }>;
const FIND = {
  name: "find-agent",
  text: `SELECT ${AGENT_JSON} AS found FROM agents a JOIN llm_keys k ON k.id = a.llm_key_id WHERE a.id = $1 AND a.project_id = $2`,
};

/**
 * The stored agent with its key and links.
 * @throws AppError NOT_FOUND, also for an agent of another project
 */
export async function findAgent(projectId: string, agentId: string): Promise<KeyedAgentRow> {
  const { rows } = isUuid(agentId) ? await pool().query<{ found: FoundAgent }>({ ...FIND, values: [agentId, projectId] }) : { rows: [] };
  if (!rows[0]) throw notFound("agent");
  return agentOf(rows[0].found);
}

/**
 * That an agent is there, and its current version.
 * @throws AppError NOT_FOUND, also for an agent of another project
 */
export async function assertAgent(project_id: string, agent_id: string): Promise<{ id: string; version: number }> {
  const where = { id: agent_id, project_id };
  const found = isUuid(agent_id) ? await db().agent.findFirst({ where, select: { id: true, version: true } }) : null;
  if (!found) throw notFound("agent");
  return found;
}

/** The stored agent, out of what a statement has found. */
export function agentOf({ agent, llm_key, ...links }: FoundAgent): KeyedAgentRow {
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

/** An agent as the API shows it. */
export const toAgent = (row: AgentRow): Agent => ({
  id: row.id,
  name: row.name,
  description: row.description,
  llm_key_id: row.llm_key_id,
  model: row.model,
  system_prompt: row.system_prompt,
  temperature: row.temperature,
  max_tokens: row.max_tokens,
  tools: row.tools.flatMap((tool) => AgentTool.safeParse(tool).data ?? []),
  mcp_server_ids: row.mcp_servers.map((link) => link.mcp_server_id),
  rag_ids: row.rag_sources.map((link) => link.rag_source_id),
  skill_ids: row.skills.map((link) => link.skill_id),
  output_schema: Agent.shape.output_schema.parse(row.output_schema),
  version: row.version,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
