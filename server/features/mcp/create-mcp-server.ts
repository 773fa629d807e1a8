import { checkMcpUrl } from "#server/features/mcp/check-mcp-url.ts";
import { connectMcp } from "#server/features/mcp/connect-mcp.ts";
import { toMcpServerDetail } from "#server/features/mcp/mcp-dto.ts";
import { assertMcpNameFree } from "#server/features/mcp/mcp-names.ts";
import type { CreateMcpServerInput, McpServerDetail } from "#server/features/mcp/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { saveResource } from "#server/platform/names-in-use.ts";

/**
 * Connects a server: lists its tools and stores it with them.
 * @throws AppError VALIDATION_ERROR (address), CONFLICT (name), UPSTREAM_ERROR when the server fails; nothing is saved then
 */
export async function createMcpServer(principal: ProjectPrincipal, input: CreateMcpServerInput): Promise<McpServerDetail> {
  const { name, url, transport = "streamable_http", headers = {}, disabled_tools = [] } = input;
  const project_id = principal.project.id;
  const private_allowed = await checkMcpUrl(principal, url);
  await assertMcpNameFree(project_id, name);
  const connection = await connectMcp({ name, url, transport, headers, private_allowed });
  const data = { project_id, name, ...connection, disabled_tools: [...new Set(disabled_tools)] };
  const record = { what: "an MCP server", name, action: "mcp_server.create", resource_type: "mcp_server", detail: { transport } };
  return toMcpServerDetail(await saveResource(principal, record, (tx) => tx.mcpServer.create({ data })));
}
