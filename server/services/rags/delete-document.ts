import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { RagDocumentRef } from "#server/schemas/rag.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findRagDocument } from "#server/services/rags/find-rag.ts";

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
