import type { Prisma } from "#prisma/generated/client.ts";
import { findRag } from "#server/features/knowledge/find-rag.ts";
import { toRagDocument } from "#server/features/knowledge/rag-dto.ts";
import { announceIndexing } from "#server/features/knowledge/request-indexing.ts";
import type { RagDocument } from "#server/features/knowledge/schema.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, isForeignKeyViolation, isUniqueViolation } from "#server/platform/errors.ts";
import { assertRoom } from "#server/runs/store/limits.ts";
import { noteStored } from "#server/runs/store/space.ts";

export interface NewDocument {
  title: string;
  uri: string | null;
  media_type: string;
  /** What the same content has in common, however it is called. */
  hash: string;
  /** The document itself; null when it is fetched from its address at each indexing. */
  data: Uint8Array | null;
}

async function assertNew(rag_source_id: string, hash: string, tx: Prisma.TransactionClient): Promise<void> {
  // What could not be read is no obstacle to the same once more.
  await tx.ragDocument.deleteMany({ where: { rag_source_id, hash, status: "failed" } });
  const same = await tx.ragDocument.findFirst({ where: { rag_source_id, hash }, select: { id: true, title: true } });
  if (!same) return;
  throw new AppError(
    "CONFLICT",
    `The source already has this content, as "${same.title}" (document ${same.id}). Delete that one first to add it anew.`,
  );
}

/**
 * Stores a document and has it indexed in the background. A document with the same content that failed is replaced.
 * @throws AppError NOT_FOUND; CONFLICT for a source that keeps its documents elsewhere, for content that is there, and for a
 *   project that holds as much as it may
 */
export async function insertDocument(
  principal: ProjectPrincipal,
  rag_id: string,
  { title, uri, media_type, hash, data }: NewDocument,
): Promise<RagDocument> {
  const source = await findRag(principal.project.id, rag_id);
  if (source.type !== "documents")
    throw new AppError("CONFLICT", `"${source.name}" is a ${source.type} source, which keeps its documents elsewhere. Add them there.`);
  await assertRoom(principal.project.id);
  try {
    const row = await db().$transaction(async (tx) => {
      await assertNew(source.id, hash, tx);
      const saved = await tx.ragDocument.create({
        data: {
          rag_source_id: source.id,
          title,
          uri,
          media_type,
          hash,
          bytes: data?.byteLength ?? 0,
          content: { create: { text: "", data: data && new Uint8Array(data) } },
        },
      });
      await recordAudit(
        principal,
        {
          action: "rag.add_document",
          resource_type: "rag",
          resource_id: source.id,
          resource_name: source.name,
          detail: { document_id: saved.id, title },
        },
        tx,
      );
      return saved;
    });
    noteStored(principal.project.id, "documents", row.bytes);
    await announceIndexing(principal.project.id, [row]);
    return toRagDocument(row);
  } catch (error) {
    if (isUniqueViolation(error)) throw new AppError("CONFLICT", "The source already has this content.");
    if (isForeignKeyViolation(error)) await findRag(principal.project.id, rag_id);
    throw error;
  }
}
