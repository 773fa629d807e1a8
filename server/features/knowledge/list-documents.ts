import { findRag } from "#server/features/knowledge/find-rag.ts";
import { toRagDocument } from "#server/features/knowledge/rag-dto.ts";
import type { ListRagDocumentsInput, RagDocument } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page } from "#server/shared/primitives-schema.ts";

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
