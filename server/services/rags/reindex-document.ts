import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { RagDocument, RagDocumentRef } from "#server/schemas/rag.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findRag, findRagDocument } from "#server/services/rags/find-rag.ts";
import { toRagDocument } from "#server/services/rags/rag-dto.ts";
import { announceIndexing, indexAgain } from "#server/services/rags/request-indexing.ts";

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
