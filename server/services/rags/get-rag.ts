import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Rag } from "#server/schemas/rag.ts";
import { findRag } from "#server/services/rags/find-rag.ts";
import { countDocuments, toRag } from "#server/services/rags/rag-dto.ts";

/**
 * One RAG source, secrets masked.
 * @throws AppError NOT_FOUND
 */
export async function getRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<Rag> {
  const row = await findRag(principal.project.id, rag_id);
  return toRag(row, await countDocuments([row.id]));
}
