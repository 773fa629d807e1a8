import { findMcpServer } from "#server/features/mcp/find-mcp-server.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { deleteResource, namesInUse } from "#server/platform/names-in-use.ts";

async function serverInUse(mcp_server_id: string): Promise<string | undefined> {
  const where = { mcp_servers: { some: { mcp_server_id } } };
  const agents = await db().agent.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return agents.length ? `The MCP server is used by ${namesInUse("agent", agents)}. Take it out there first.` : undefined;
}

/**
 * Disconnects a server of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents that use it
 */
export async function deleteMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<void> {
  const { id, name } = await findMcpServer(principal.project.id, mcp_id);
  const record = { action: "mcp_server.delete", resource_type: "mcp_server", resource_id: id, resource_name: name };
  await deleteResource(
    principal,
    "MCP server",
    record,
    (tx) => tx.mcpServer.deleteMany({ where: { id } }),
    () => serverInUse(id),
  );
}
