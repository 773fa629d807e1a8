import { findRag } from "#server/features/knowledge/find-rag.ts";
import { countDocuments, toRag } from "#server/features/knowledge/rag-dto.ts";
import type { Rag } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

/**
 * One RAG source, secrets masked.
 * @throws AppError NOT_FOUND
 */
export async function getRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<Rag> {
  const row = await findRag(principal.project.id, rag_id);
  return toRag(row, await countDocuments([row.id]));
}
