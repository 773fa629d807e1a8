import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { McpServerDetail } from "#server/schemas/mcp.ts";
import { findMcpServer } from "#server/services/mcp/find-mcp-server.ts";
import { toMcpServerDetail } from "#server/services/mcp/mcp-dto.ts";

/**
 * One server of the project with the tools that it had when it was last asked.
 * @throws AppError NOT_FOUND
 */
export async function getMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<McpServerDetail> {
  return toMcpServerDetail(await findMcpServer(principal.project.id, mcp_id));
}
