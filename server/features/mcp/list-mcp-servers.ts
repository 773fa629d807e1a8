import { toMcpServer } from "#server/features/mcp/mcp-dto.ts";
import type { McpServer } from "#server/features/mcp/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page, PageInput } from "#server/shared/primitives-schema.ts";

/** The project's MCP servers, newest first. */
export async function listMcpServers(principal: ProjectPrincipal, input: PageInput): Promise<Page<McpServer>> {
  const where = { project_id: principal.project.id };
  const rows = db().mcpServer.findMany({ where, orderBy: { id: "desc" }, omit: { sealed_headers: true }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().mcpServer.count({ where }), rows]), toMcpServer);
}
