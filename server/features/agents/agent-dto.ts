import type { Prisma } from "#prisma/generated/client.ts";
import { Agent, AgentTool } from "#server/features/agents/schema.ts";

/** What a query must include for `toAgent`. */
export const withLinks = {
  mcp_servers: { select: { mcp_server_id: true }, orderBy: { mcp_server_id: "asc" } },
  rag_sources: { select: { rag_source_id: true }, orderBy: { rag_source_id: "asc" } },
  skills: { select: { skill_id: true }, orderBy: { skill_id: "asc" } },
} as const satisfies Prisma.AgentInclude;

type AgentRow = Prisma.AgentGetPayload<{ include: typeof withLinks }>;

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
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});
