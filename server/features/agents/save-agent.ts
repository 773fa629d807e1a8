import type { Prisma } from "#prisma/generated/client.ts";
import { toAgent } from "#server/features/agents/agent-dto.ts";
import { findAgent } from "#server/features/agents/find-agent.ts";
import type { Agent } from "#server/features/agents/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation } from "#server/platform/errors.ts";
import { nameTaken, saveResource } from "#server/platform/names-in-use.ts";

const deletedMeanwhile = () =>
  new AppError("VALIDATION_ERROR", "The LLM key, an MCP server or a RAG source was deleted in this moment. Choose again.");

/**
 * Asks early, so that nobody waits for a live call only to hear that the name is taken.
 * @throws AppError CONFLICT
 */
export async function assertNameFree(projectId: string, name: string, exceptAgentId?: string): Promise<void> {
  const other = await db().agent.findFirst({
    where: { project_id: projectId, name, ...(exceptAgentId && { id: { not: exceptAgentId } }) },
    select: { id: true },
  });
  if (other) throw nameTaken("an agent", name);
}

/**
 * Writes an agent and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name taken meanwhile, VALIDATION_ERROR for a key, server or source deleted meanwhile
 */
export async function saveAgent(
  principal: ProjectPrincipal,
  record: { action: "agent.create" | "agent.update"; name: string; detail?: Prisma.InputJsonObject; at?: Date },
  write: (tx: Prisma.TransactionClient) => Promise<{ id: string; name: string }>,
): Promise<Agent> {
  try {
    const { id } = await saveResource(principal, { what: "an agent", resource_type: "agent", ...record }, write);
    return toAgent(await findAgent(principal.project.id, id));
  } catch (error) {
    throw isForeignKeyViolation(error) ? deletedMeanwhile() : error;
  }
}
