import { findRag, findRagDocument } from "#server/features/knowledge/find-rag.ts";
import { toRagDocument } from "#server/features/knowledge/rag-dto.ts";
import { announceIndexing, indexAgain } from "#server/features/knowledge/request-indexing.ts";
import type { RagDocument, RagDocumentRef } from "#server/features/knowledge/schema.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";

/**
 * Indexes a document anew: one that failed, or one whose address holds something else by now.
 * @throws AppError NOT_FOUND
 */
export async function reindexDocument(principal: ProjectPrincipal, ref: RagDocumentRef): Promise<RagDocument> {
  const { id, title } = await findRagDocument(principal.project.id, ref);
  const source = await findRag(principal.project.id, ref.rag_id);
  const asked = await db().$transaction(async (tx) => {
    const documents = await indexAgain({ id }, tx);
    if (!documents.length) throw notFound("document");
    await recordAudit(
      principal,
      {
        action: "rag.index_document",
        resource_type: "rag",
        resource_id: source.id,
        resource_name: source.name,
        detail: { document_id: id, title },
      },
      tx,
    );
    return documents;
  });
  await announceIndexing(principal.project.id, asked);
  return toRagDocument(await findRagDocument(principal.project.id, ref));
}
