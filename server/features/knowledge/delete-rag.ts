import { findRag } from "#server/features/knowledge/find-rag.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, notFound } from "#server/platform/errors.ts";
import { namesInUse } from "#server/platform/names-in-use.ts";

async function stillUsed(ragId: string): Promise<AppError | undefined> {
  const agents = await db().agent.findMany({
    where: { rag_sources: { some: { rag_source_id: ragId } } },
    select: { name: true },
    orderBy: { name: "asc" },
  });
  if (!agents.length) return undefined;
  return new AppError("CONFLICT", `The RAG source is used by ${namesInUse("agent", agents)}. Take it out there first.`);
}

/**
 * Deletes a RAG source of the project and the documents in it. What lies in a store of the user's is left alone.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents that use it
 */
export async function deleteRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<void> {
  const { id, name } = await findRag(principal.project.id, rag_id);
  const conflict = await stillUsed(id);
  if (conflict) throw conflict;
  try {
    await db().$transaction(async (tx) => {
      const { count } = await tx.ragSource.deleteMany({ where: { id } });
      if (count === 0) throw notFound("RAG source");
      await recordAudit(principal, { action: "rag.delete", resource_type: "rag", resource_id: id, resource_name: name }, tx);
    });
  } catch (error) {
    // An agent took the source in this very moment.
    if (isForeignKeyViolation(error)) throw (await stillUsed(id)) ?? error;
    throw error;
  }
}
