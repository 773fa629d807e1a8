import { findRag } from "#server/features/knowledge/find-rag.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { deleteResource, namesInUse } from "#server/platform/names-in-use.ts";

async function ragInUse(rag_source_id: string): Promise<string | undefined> {
  const where = { rag_sources: { some: { rag_source_id } } };
  const agents = await db().agent.findMany({ where, select: { name: true }, orderBy: { name: "asc" } });
  return agents.length ? `The RAG source is used by ${namesInUse("agent", agents)}. Take it out there first.` : undefined;
}

/**
 * Deletes a RAG source of the project and the documents in it. What lies in a store of the user's is left alone.
 * @throws AppError NOT_FOUND; CONFLICT that names the agents that use it
 */
export async function deleteRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<void> {
  const { id, name } = await findRag(principal.project.id, rag_id);
  const record = { action: "rag.delete", resource_type: "rag", resource_id: id, resource_name: name };
  await deleteResource(
    principal,
    "RAG source",
    record,
    (tx) => tx.ragSource.deleteMany({ where: { id } }),
    () => ragInUse(id),
  );
}
