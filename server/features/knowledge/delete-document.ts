import { findRagDocument } from "#server/features/knowledge/find-rag.ts";
import type { RagDocumentRef } from "#server/features/knowledge/schema.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";

/**
 * Deletes a document; searches find it no more.
 * @throws AppError NOT_FOUND
 */
export async function deleteDocument(principal: ProjectPrincipal, ref: RagDocumentRef): Promise<void> {
  const { id, title, rag_source_id } = await findRagDocument(principal.project.id, ref);
  await db().$transaction(async (tx) => {
    const { count } = await tx.ragDocument.deleteMany({ where: { id } });
    if (count === 0) throw notFound("document");
    const source = await tx.ragSource.update({
      where: { id: rag_source_id },
      data: { revision: { increment: 1 } },
      select: { name: true },
    });
    await recordAudit(
      principal,
      {
        action: "rag.delete_document",
        resource_type: "rag",
        resource_id: rag_source_id,
        resource_name: source.name,
        detail: { document_id: id, title },
      },
      tx,
    );
  });
}
