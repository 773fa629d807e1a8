import type { Prisma } from "#prisma/generated/client.ts";
import { toAgent } from "#server/features/agents/agent-dto.ts";
import { findAgent } from "#server/features/agents/find-agent.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, isUniqueViolation } from "#server/platform/errors.ts";

const deletedMeanwhile = () =>
  new AppError("VALIDATION_ERROR", "The LLM key, an MCP server or a RAG source was deleted in this moment. Choose again.");

const nameTaken = (name: string) => new AppError("CONFLICT", `The project already has an agent named "${name}". Choose another name.`);

/**
 * Asks early, so that nobody waits for a live call only to hear that the name is taken.
 * @throws AppError CONFLICT
 */
export async function assertNameFree(projectId: string, name: string, exceptAgentId?: string): Promise<void> {
  const other = await db().agent.findFirst({
    where: { project_id: projectId, name, ...(exceptAgentId && { id: { not: exceptAgentId } }) },
    select: { id: true },
  });
  if (other) throw nameTaken(name);
}

/**
 * Writes an agent and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name taken meanwhile, VALIDATION_ERROR for a key, server or source deleted meanwhile
 */
export async function saveAgent(
  principal: ProjectPrincipal,
  { action, name, ...more }: { action: "agent.create" | "agent.update"; name: string; detail?: Prisma.InputJsonObject; at?: Date },
  write: (tx: Prisma.TransactionClient) => Promise<{ id: string; name: string }>,
): Promise<Agent> {
  try {
    const { id } = await db().$transaction(async (tx) => {
      const row = await write(tx);
      await recordAudit(principal, { action, resource_type: "agent", resource_id: row.id, resource_name: row.name, ...more }, tx);
      return row;
    });
    return toAgent(await findAgent(principal.project.id, id));
  } catch (error) {
    if (isUniqueViolation(error)) throw nameTaken(name);
    if (isForeignKeyViolation(error)) throw deletedMeanwhile();
    throw error;
  }
}
