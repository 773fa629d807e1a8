import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { McpServer } from "#server/schemas/mcp.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import { toMcpServer } from "#server/services/mcp/mcp-dto.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The project's MCP servers, newest first. */
export async function listMcpServers(principal: ProjectPrincipal, input: PageInput): Promise<Page<McpServer>> {
  const where = { project_id: principal.project.id };
  const rows = db().mcpServer.findMany({ where, orderBy: { id: "desc" }, omit: { sealed_headers: true }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().mcpServer.count({ where }), rows]), toMcpServer);
}
