import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";

export const mcpNameTaken = (name: string) =>
  new AppError("CONFLICT", `The project already has an MCP server named "${name}". Choose another name.`);

/**
 * Asks early, so that nobody waits for a connection only to hear that the name is taken.
 * @throws AppError CONFLICT
 */
export async function assertMcpNameFree(project_id: string, name: string, exceptId?: string): Promise<void> {
  const where = { project_id, name, ...(exceptId && { id: { not: exceptId } }) };
  if (await db().mcpServer.findFirst({ where, select: { id: true } })) throw mcpNameTaken(name);
}
