import type { McpServer as McpServerRow } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

/**
 * The stored server, its sealed headers included.
 * @throws AppError NOT_FOUND, also for a server of another project
 */
export async function findMcpServer(project_id: string, mcp_id: string): Promise<McpServerRow> {
  const row = isUuid(mcp_id) ? await db().mcpServer.findFirst({ where: { id: mcp_id, project_id } }) : null;
  if (!row) throw notFound("MCP server");
  return row;
}
