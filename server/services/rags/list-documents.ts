import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page } from "#server/schemas/primitives.ts";
import type { ListRagDocumentsInput, RagDocument } from "#server/schemas/rag.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { findRag } from "#server/services/rags/find-rag.ts";
import { toRagDocument } from "#server/services/rags/rag-dto.ts";

/**
 * The documents of a source, newest first; none for a source that keeps them elsewhere.
 * @throws AppError NOT_FOUND
 */
export async function listDocuments(principal: ProjectPrincipal, input: ListRagDocumentsInput): Promise<Page<RagDocument>> {
  const { id } = await findRag(principal.project.id, input.rag_id);
  const where = { rag_source_id: id, ...(input.status && { status: input.status }) };
  const rows = db().ragDocument.findMany({ where, orderBy: { id: "desc" }, ...pageWindow(input) });
  return paged(input, await Promise.all([db().ragDocument.count({ where }), rows]), toRagDocument);
}
