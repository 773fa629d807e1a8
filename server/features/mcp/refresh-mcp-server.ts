import type { Prisma } from "#prisma/generated/client.ts";
import { findMcpServer } from "#server/features/mcp/find-mcp-server.ts";
import { listToolsOf } from "#server/features/mcp/list-tools-of.ts";
import { toMcpServerDetail } from "#server/features/mcp/mcp-dto.ts";
import { mcpEndpointOf } from "#server/features/mcp/mcp-endpoint-of.ts";
import type { McpServerDetail } from "#server/features/mcp/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isAppError, notFound } from "#server/platform/errors.ts";

/**
 * Connects to a stored server again and takes over the tools that it has now. A failure is kept as `last_error`, the
 * tools stay as they were.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR when the server fails
 */
export async function refreshMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<McpServerDetail> {
  const before = await findMcpServer(principal.project.id, mcp_id);
  const write = async (data: Prisma.McpServerUpdateManyMutationInput) => {
    const { count } = await db().mcpServer.updateMany({ where: { id: before.id }, data });
    if (count === 0) throw notFound("MCP server");
  };
  const tools = await listToolsOf(mcpEndpointOf(before)).catch(async (error: unknown) => {
    if (isAppError(error) && error.code === "UPSTREAM_ERROR") await write({ last_error: error.message });
    throw error;
  });
  await write({ tools: tools as unknown as Prisma.InputJsonArray, last_seen_at: new Date(), last_error: null }); // cast: JSON by construction
  return toMcpServerDetail(await findMcpServer(principal.project.id, mcp_id));
}
