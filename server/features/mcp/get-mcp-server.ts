import { findMcpServer } from "#server/features/mcp/find-mcp-server.ts";
import { toMcpServerDetail } from "#server/features/mcp/mcp-dto.ts";
import type { McpServerDetail } from "#server/features/mcp/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/**
 * One server of the project with the tools that it had when it was last asked.
 * @throws AppError NOT_FOUND
 */
export async function getMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<McpServerDetail> {
  return toMcpServerDetail(await findMcpServer(principal.project.id, mcp_id));
}
