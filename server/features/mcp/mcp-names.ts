import { db } from "#server/platform/db/client.ts";
import { nameTaken } from "#server/platform/names-in-use.ts";

/**
 * Asks early, so that nobody waits for a connection only to hear that the name is taken.
 * @throws AppError CONFLICT
 */
export async function assertMcpNameFree(project_id: string, name: string, exceptId?: string): Promise<void> {
  const where = { project_id, name, ...(exceptId && { id: { not: exceptId } }) };
  if (await db().mcpServer.findFirst({ where, select: { id: true } })) throw nameTaken("an MCP server", name);
}
