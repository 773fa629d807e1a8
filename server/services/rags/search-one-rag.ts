import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { RagSearchResult, SearchRagInput } from "#server/schemas/rag.ts";
import { findRag } from "#server/services/rags/find-rag.ts";
import { searchRag } from "#server/services/rags/search-rag.ts";

/**
 * What an agent would find in a source.
 * @throws AppError NOT_FOUND; UPSTREAM_ERROR when a store of the user's does not answer
 */
export async function searchOneRag(principal: ProjectPrincipal, { rag_id, query, limit }: SearchRagInput): Promise<RagSearchResult> {
  const { id } = await findRag(principal.project.id, rag_id);
  const problems: string[] = [];
  const items = await searchRag(principal.project.id, [id], query, limit, { onProblem: (problem) => problems.push(problem) });
  return { items, ...(problems.length > 0 && { problems }) };
}
