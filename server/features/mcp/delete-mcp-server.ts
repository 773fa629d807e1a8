import { findMcpServer } from "#server/features/mcp/find-mcp-server.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, notFound } from "#server/platform/errors.ts";
import { namesInUse } from "#server/platform/names-in-use.ts";

async function stillUsed(mcp_server_id: string): Promise<AppError | undefined> {
  const agents = await db().agent.findMany({
    where: { mcp_servers: { some: { mcp_server_id } } },
    select: { name: true },
    orderBy: { name: "asc" },
  });
  if (!agents.length) return undefined;
  return new AppError("CONFLICT", `The MCP server is used by ${namesInUse("agent", agents)}. Take it out there first.`);
}

/**
 * Disconnects a server of the project.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents that use it
 */
export async function deleteMcpServer(principal: ProjectPrincipal, { mcp_id }: { mcp_id: string }): Promise<void> {
  const { id, name } = await findMcpServer(principal.project.id, mcp_id);
  const conflict = await stillUsed(id);
  if (conflict) throw conflict;
  try {
    await db().$transaction(async (tx) => {
      const { count } = await tx.mcpServer.deleteMany({ where: { id } });
      if (count === 0) throw notFound("MCP server");
      await recordAudit(principal, { action: "mcp_server.delete", resource_type: "mcp_server", resource_id: id, resource_name: name }, tx);
    });
  } catch (error) {
    // An agent took the server in this very moment.
    if (isForeignKeyViolation(error)) throw (await stillUsed(id)) ?? error;
    throw error;
  }
}
