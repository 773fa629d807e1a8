import { checkMcpUrl } from "#server/features/mcp/check-mcp-url.ts";
import { connectMcp } from "#server/features/mcp/connect-mcp.ts";
import { toMcpServerDetail } from "#server/features/mcp/mcp-dto.ts";
import { assertMcpNameFree, mcpNameTaken } from "#server/features/mcp/mcp-names.ts";
import type { CreateMcpServerInput, McpServerDetail } from "#server/features/mcp/schema.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isUniqueViolation } from "#server/platform/errors.ts";

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
  try {
    return await db().$transaction(async (tx) => {
      const row = await tx.mcpServer.create({ data });
      await recordAudit(
        principal,
        { action: "mcp_server.create", resource_type: "mcp_server", resource_id: row.id, resource_name: name, detail: { transport } },
        tx,
      );
      return toMcpServerDetail(row);
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw mcpNameTaken(name);
    throw error;
  }
}
