import type { RagDocument as RagDocumentRow, RagSource } from "#prisma/generated/client.ts";
import type { Rag, RagDocument, RagType } from "#server/features/knowledge/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

type Counts = NonNullable<Rag["documents"]>;

/** How many documents each of these sources has, by status. */
export async function countDocuments(ragIds: string[]): Promise<Map<string, Counts>> {
  const groups = await db().ragDocument.groupBy({
    by: ["rag_source_id", "status"],
    where: { rag_source_id: { in: ragIds } },
    _count: { _all: true },
  });
  const counts = new Map<string, Counts>();
  for (const { rag_source_id, status, _count } of groups) {
    const one = counts.get(rag_source_id) ?? { total: 0, ready: 0, indexing: 0, failed: 0 };
    counts.set(rag_source_id, { ...one, [status]: _count._all, total: one.total + _count._all });
  }
  return counts;
}

/** A source as the API shows it; its secrets were masked when it was stored. */
export const toRag = (row: Omit<RagSource, "sealed_secrets">, counts: Map<string, Counts>): Rag => ({
  id: row.id,
  name: row.name,
  type: row.type as RagType, // cast: only these are ever stored
  config: row.config as Rag["config"], // cast: only checked settings are ever stored
  documents: row.type === "documents" ? (counts.get(row.id) ?? { total: 0, ready: 0, indexing: 0, failed: 0 }) : null,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** A document as the API shows it, without its text. */
export const toRagDocument = (row: RagDocumentRow): RagDocument => ({
  id: row.id,
  rag_id: row.rag_source_id,
  title: row.title,
  uri: row.uri,
  media_type: row.media_type,
  bytes: row.bytes,
  status: row.status,
  error: row.error,
  progress: row.status === "ready" ? 1 : row.chunk_count === 0 ? 0 : Math.min(1, row.chunks_done / row.chunk_count),
  chunk_count: row.chunk_count,
  charset: row.charset,
  chosen_charset: row.chosen_charset,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/**
 * The stored source, secrets sealed.
 * @throws AppError NOT_FOUND, also for a source of another project
 */
export async function findRag(projectId: string, ragId: string): Promise<RagSource> {
  const row = isUuid(ragId) ? await db().ragSource.findFirst({ where: { id: ragId, project_id: projectId } }) : null;
  if (!row) throw notFound("RAG source");
  return row;
}

/**
 * The stored document of a source of this project.
 * @throws AppError NOT_FOUND
 */
export async function findRagDocument(projectId: string, ref: { rag_id: string; document_id: string }): Promise<RagDocumentRow> {
  const { id } = await findRag(projectId, ref.rag_id);
  const row = isUuid(ref.document_id) ? await db().ragDocument.findFirst({ where: { id: ref.document_id, rag_source_id: id } }) : null;
  if (!row) throw notFound("document");
  return row;
}
