import { storedTools } from "#server/features/mcp/mcp-dto.ts";
import { mcpEndpointOf } from "#server/features/mcp/mcp-endpoint-of.ts";
import { mcpToolDefinitions } from "#server/llm/tools/mcp/mcp-tool-definitions.ts";
import { openMcpTools } from "#server/llm/tools/mcp/open-mcp-tools.ts";
import type { AgentToolDefinition } from "#server/llm/tools/tool.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";

export interface AgentMcp {
  tools: AgentToolDefinition[];
  /** Ends every session that a call opened; whoever opened this must call it, however the chat ended. */
  close(): Promise<void>;
}

/**
 * The tools of an agent's MCP servers for one chat or one node run. Nothing is connected before the model calls a tool,
 * so a server that is away fails that call only.
 * @param server_ids those that are gone are left out
 * @param taken names of the agent's other tools; those of the servers are added
 * @throws AppError INTERNAL_ERROR when headers were sealed under another ENCRYPTION_KEY
 */
export async function openAgentMcp(project_id: string, server_ids: readonly string[], taken: Set<string> = new Set()): Promise<AgentMcp> {
  const where = { project_id, id: { in: server_ids.filter(isUuid) } };
  const rows = await db().mcpServer.findMany({ where, orderBy: { id: "asc" } });
  const servers = rows.map((row) => ({ row, opened: openMcpTools(mcpEndpointOf(row)) }));
  return {
    tools: servers.flatMap(({ row, opened }) =>
      mcpToolDefinitions({ name: row.name, tools: storedTools(row), disabledTools: row.disabled_tools }, opened, taken),
    ),
    close: async () => {
      await Promise.all(servers.map(({ opened }) => opened.close()));
    },
  };
}
