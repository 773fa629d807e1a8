import { findRag } from "#server/features/knowledge/find-rag.ts";
import type { RagSearchResult, SearchRagInput } from "#server/features/knowledge/schema.ts";
import { searchRag } from "#server/features/knowledge/search-rag.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";

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
