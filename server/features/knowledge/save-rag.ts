import type { Prisma, RagSource } from "#prisma/generated/client.ts";
import { countDocuments, toRag } from "#server/features/knowledge/rag-dto.ts";
import type { Rag } from "#server/features/knowledge/schema.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isUniqueViolation } from "#server/platform/errors.ts";

/**
 * Writes a source and the audit entry for it, both or neither.
 * @throws AppError CONFLICT for a name that is taken
 */
export async function saveRag(
  principal: ProjectPrincipal,
  { action, name, detail }: { action: "rag.create" | "rag.update"; name: string; detail: Prisma.InputJsonObject },
  write: (tx: Prisma.TransactionClient) => Promise<RagSource>,
): Promise<Rag> {
  try {
    const row = await db().$transaction(async (tx) => {
      const saved = await write(tx);
      await recordAudit(principal, { action, resource_type: "rag", resource_id: saved.id, resource_name: saved.name, detail }, tx);
      return saved;
    });
    return toRag(row, await countDocuments([row.id]));
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    throw new AppError("CONFLICT", `The project already has a RAG source named "${name}". Choose another name.`);
  }
}
