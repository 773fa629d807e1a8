import type { Prisma, RagSource } from "#prisma/generated/client.ts";
import { countDocuments, toRag } from "#server/features/knowledge/rag-dto.ts";
import type { Rag } from "#server/features/knowledge/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { saveResource } from "#server/platform/names-in-use.ts";

/**
 * Writes a source and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name that is taken
 */
export async function saveRag(
  principal: ProjectPrincipal,
  record: { action: "rag.create" | "rag.update"; name: string; detail: Prisma.InputJsonObject },
  write: (tx: Prisma.TransactionClient) => Promise<RagSource>,
): Promise<Rag> {
  const row = await saveResource(principal, { what: "a RAG source", resource_type: "rag", ...record }, write);
  return toRag(row, await countDocuments([row.id]));
}
