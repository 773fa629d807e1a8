import { findRagDocument } from "#server/features/knowledge/find-rag.ts";
import { toRagDocument } from "#server/features/knowledge/rag-dto.ts";
import { type RagDocumentDetail, type RagDocumentRef, SHOWN_TEXT } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";

/**
 * One document with the beginning of its text, as it was read.
 * @throws AppError NOT_FOUND
 */
export async function getDocument(principal: ProjectPrincipal, ref: RagDocumentRef): Promise<RagDocumentDetail> {
  const row = await findRagDocument(principal.project.id, ref);
  const { rows } = await pool().query<{ text: string }>("SELECT left(text, $2) AS text FROM rag_document_contents WHERE document_id = $1", [
    row.id,
    SHOWN_TEXT,
  ]);
  return { ...toRagDocument(row), text: rows[0]?.text ?? "" };
}
