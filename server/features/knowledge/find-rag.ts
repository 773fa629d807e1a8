import type { RagDocument, RagSource } from "#prisma/generated/client.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

/**
 * The stored source, secrets sealed.
 * @throws AppError NOT_FOUND, also for a source of another project
 */
export async function findRag(projectId: string, ragId: string): Promise<RagSource> {
  const row = isUuid(ragId) ? await db().ragSource.findFirst({ where: { id: ragId, project_id: projectId } }) : null;
  if (!row) throw notFound("RAG source");
  return row;
}

/**
 * The stored document of a source of this project.
 * @throws AppError NOT_FOUND
 */
export async function findRagDocument(projectId: string, ref: { rag_id: string; document_id: string }): Promise<RagDocument> {
  const { id } = await findRag(projectId, ref.rag_id);
  const row = isUuid(ref.document_id) ? await db().ragDocument.findFirst({ where: { id: ref.document_id, rag_source_id: id } }) : null;
  if (!row) throw notFound("document");
  return row;
}
