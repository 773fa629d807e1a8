import type { Prisma } from "#prisma/generated/client.ts";
import { documentAdded } from "#server/jobs/events.ts";
import { tellExecutor } from "#server/jobs/send-events.ts";
import { db } from "#server/platform/db/client.ts";

/** A document that waits to be indexed, and the how manieth time that is. */
export interface AskedDocument {
  id: string;
  generation: number;
}

/** An indexing that has told nothing for so long is taken for lost; the executor's own retries are closer together. */
const LOST_MS = 15 * 60_000;
const BATCH = 200;

/**
 * Marks documents to be indexed anew. Call `announceIndexing` when the transaction is through.
 * @param within the transaction that makes the change
 */
export async function indexAgain(where: Prisma.RagDocumentWhereInput, within: Prisma.TransactionClient): Promise<AskedDocument[]> {
  await within.ragDocument.updateMany({
    where,
    data: { status: "indexing", error: null, chunk_count: 0, chunks_done: 0, generation: { increment: 1 } },
  });
  return within.ragDocument.findMany({ where: { ...where, status: "indexing" }, select: { id: true, generation: true } });
}

/** Has documents indexed in the background. What cannot be sent is made up for by `resumeIndexing`. */
export async function announceIndexing(project_id: string, documents: readonly AskedDocument[]): Promise<void> {
  for (let at = 0; at < documents.length; at += BATCH)
    await tellExecutor(
      documents
        .slice(at, at + BATCH)
        .map(({ id, generation }) => documentAdded.create({ document_id: id, project_id, generation }, { id: `${id}-${generation}` })),
    );
}

/**
 * Asks again for documents whose indexing got lost: an event that was not sent, a server that forgot it.
 * @returns how many were asked for
 */
export async function resumeIndexing(): Promise<number> {
  const lost = await db().ragDocument.findMany({
    where: { status: "indexing", updated_at: { lt: new Date(Date.now() - LOST_MS) } },
    select: { id: true, rag_source: { select: { project_id: true } } },
    orderBy: { updated_at: "asc" },
    take: BATCH,
  });
  for (const { id, rag_source } of lost) {
    const asked = await db().$transaction((tx) => indexAgain({ id, status: "indexing" }, tx));
    await announceIndexing(rag_source.project_id, asked);
  }
  return lost.length;
}
