import { embed, embeddingOf, normalized, textsPerCall } from "#server/features/knowledge/embedding.ts";
import { vectorOf } from "#server/features/knowledge/words.ts";
import { ProviderError } from "#server/llm/errors.ts";
import { db, inTransaction } from "#server/platform/db/client.ts";
import type { Chunk } from "#server/platform/documents/chunk-text.ts";
import { mediaTypeOf } from "#server/platform/documents/read-document.ts";
import { readDocumentApart } from "#server/platform/documents/reader.ts";
import { AppError, ERRORS, isAppError } from "#server/platform/errors.ts";
import { assertSuccess, fetchBounded, USER_AGENT } from "#server/platform/net/fetch-bounded.ts";
import { chosenReach } from "#server/platform/net/guard.ts";
import { noteStored } from "#server/runs/store/space.ts";
import { accentFreeText, FOLDING, searchText } from "#server/shared/search-text.ts";

/** One indexing of a document; one with a newer generation takes its place. */
interface Indexing {
  document_id: string;
  generation: number;
}

/** How long one step goes on with calls, in milliseconds, so that it fits any host's limit on a request. */
const STEP_MS = 15_000;
const INSERTED_AT_ONCE = 500;
const MOST_TITLE = 300;

const current = ({ document_id, generation }: Indexing) =>
  db().ragDocument.findFirst({
    where: { id: document_id, generation, status: "indexing" },
    include: { rag_source: { select: { id: true, project_id: true, config: true } } },
  });
type Current = NonNullable<Awaited<ReturnType<typeof current>>>;

/** True when the same may go well a little later. */
function isPassing(error: unknown): boolean {
  if (error instanceof ProviderError) return error.isRetryable;
  return !isAppError(error) || ERRORS[error.code].retryable;
}

const shownText = (error: unknown) =>
  isAppError(error) && error.code !== "INTERNAL_ERROR"
    ? error.message
    : "Something went wrong on our side while reading it. Index it again.";

/**
 * Says on the document why it could not be indexed; what an older indexing meets says nothing.
 * @param message for people
 */
export async function failIndexing({ document_id, generation }: Indexing, message: string): Promise<void> {
  await db().ragDocument.updateMany({
    where: { id: document_id, generation, status: "indexing" },
    data: { status: "failed", error: message },
  });
}

/** Runs a part of an indexing: a lasting fault ends it, and a passing one is told on the document and thrown for the executor. */
async function guarded(indexing: Indexing, work: () => Promise<{ isOver: boolean }>): Promise<{ isOver: boolean }> {
  try {
    return await work();
  } catch (error) {
    if (!isPassing(error)) {
      await failIndexing(indexing, shownText(error));
      return { isOver: true };
    }
    await db().ragDocument.updateMany({
      where: { id: indexing.document_id, generation: indexing.generation, status: "indexing" },
      data: { error: `${shownText(error)} It is tried again.` },
    });
    throw error;
  }
}

/** An address as it is fetched for the index: bounded in size and time, each redirect checked anew. */
const FETCH = {
  headers: {
    accept: "text/html,application/xhtml+xml,text/markdown,text/plain,application/pdf,*/*;q=0.5",
    "user-agent": USER_AGENT,
  },
  mostBytes: 10 * 1024 * 1024,
  timeoutMs: 30_000,
  redirects: 5,
};

/** @throws AppError VALIDATION_ERROR for what will not change by itself, UPSTREAM_ERROR for what may */
async function fetchDocument(address: string): Promise<{ bytes: Uint8Array; url: string; contentType: string }> {
  const answer = await fetchBounded(new URL(address), { reach: chosenReach(), ...FETCH });
  assertSuccess(answer);
  const { bytes, isCut, url, headers } = answer;
  if (isCut) throw new AppError("VALIDATION_ERROR", `The document at ${url.host} is larger than ${FETCH.mostBytes / 1024 / 1024} MiB.`);
  return { bytes, url: url.href, contentType: headers.get("content-type") ?? "" };
}

async function readContent(row: Current) {
  const limits = { owner: row.rag_source.project_id };
  const charset = row.chosen_charset ? { charset: row.chosen_charset } : {};
  if (row.uri !== null) {
    const { bytes, url, contentType } = await fetchDocument(row.uri);
    const mediaType = mediaTypeOf(bytes, new URL(url).pathname, contentType);
    const read = await readDocumentApart({ bytes, mediaType, options: { url, declared: contentType, ...charset } }, limits);
    return { bytes: bytes.byteLength, media_type: mediaType, ...read };
  }
  const content = await db().ragDocumentContent.findUnique({ where: { document_id: row.id }, select: { data: true } });
  if (!content?.data) throw new AppError("VALIDATION_ERROR", "The content of the document is gone. Add it again.");
  const { bytes, media_type } = row;
  return { bytes, media_type, ...(await readDocumentApart({ bytes: content.data, mediaType: media_type, options: charset }, limits)) };
}

/** What is indexed of a piece: title and place say what the text alone may not. */
export const indexedText = (title: string, { place, text }: Pick<Chunk, "place" | "text">): string =>
  [title, place, text].filter(Boolean).join("\n");

async function storeChunks({ document_id, generation }: Indexing, row: Current, hasVectors: boolean): Promise<boolean> {
  const { title: ownTitle, charset = null, text, language, chunks, media_type, bytes } = await readContent(row);
  const title = row.title === row.uri?.slice(0, MOST_TITLE) ? (ownTitle ?? row.title) : row.title;
  // Text, pieces, and the words that they are found by.
  noteStored(row.rag_source.project_id, "documents", 3 * text.length);
  return inTransaction(async (client) => {
    // Takes the row: an indexing that is newer, or an end of the document, comes before or after the whole of this.
    const { rowCount } = await client.query(
      `UPDATE rag_documents SET title = $3, media_type = $4, bytes = $5, language = $6, chunk_count = $7, error = NULL, updated_at = now(),
         chunks_done = $8, status = $9::"DocumentStatus", charset = $10
       WHERE id = $1 AND generation = $2 AND status = 'indexing'`,
      [
        document_id,
        generation,
        title,
        media_type,
        bytes,
        language,
        chunks.length,
        hasVectors ? 0 : chunks.length,
        hasVectors ? "indexing" : "ready",
        charset,
      ],
    );
    if (!rowCount) return true;
    await client.query("UPDATE rag_document_contents SET text = $2 WHERE document_id = $1", [document_id, text]);
    await client.query("DELETE FROM rag_chunks WHERE document_id = $1", [document_id]);
    for (let at = 0; at < chunks.length; at += INSERTED_AT_ONCE) {
      const some = chunks.slice(at, at + INSERTED_AT_ONCE);
      const indexed = some.map((chunk) => searchText(indexedText(title, chunk)));
      await client.query(
        `INSERT INTO rag_chunks (id, document_id, rag_source_id, position, place, text, search, folding)
         SELECT gen_random_uuid(), $1, $2, p, place, t, ${vectorOf("$3", "s", "a")}, ${FOLDING}
         FROM unnest($4::int[], $5::text[], $6::text[], $7::text[], $8::text[]) AS c(p, place, t, s, a)`,
        [
          document_id,
          row.rag_source_id,
          language,
          some.map((_, index) => at + index),
          some.map((chunk) => chunk.place),
          some.map((chunk) => chunk.text),
          indexed,
          indexed.map(accentFreeText),
        ],
      );
    }
    await client.query("UPDATE rag_sources SET revision = revision + 1 WHERE id = $1", [row.rag_source_id]);
    return !hasVectors;
  });
}

/**
 * Reads the text out of a document, cuts it into pieces and stores them, so that they are found by their words.
 * @returns isOver: nothing is left to do, for this indexing
 * @throws what may pass, for the executor to try again
 */
export const storePieces = (indexing: Indexing): Promise<{ isOver: boolean }> =>
  guarded(indexing, async () => {
    const row = await current(indexing);
    if (!row) return { isOver: true };
    // Stored already, by a process that died while the vectors were made: those that are there stay.
    if (row.chunk_count > 0) return { isOver: false };
    const embedding = await embeddingOf(row.rag_source.project_id, Object(row.rag_source.config));
    return { isOver: await storeChunks(indexing, row, embedding !== undefined) };
  });

async function embedSome({ document_id, generation }: Indexing, row: Current): Promise<number> {
  const embedding = await embeddingOf(row.rag_source.project_id, Object(row.rag_source.config));
  if (!embedding) return 0;
  const chunks = await db().ragChunk.findMany({
    // They are done in order, so those before are not looked at again.
    where: { document_id, position: { gte: row.chunks_done }, embedding: { isEmpty: true } },
    orderBy: { position: "asc" },
    // No more than one call, so that a slow server does not hold a step for long.
    take: textsPerCall(embedding),
    select: { id: true, place: true, text: true },
  });
  if (!chunks.length) return 0;
  const texts = chunks.map((chunk) => indexedText(row.title, chunk));
  const vectors = await embed(row.rag_source.project_id, embedding, texts);
  noteStored(
    row.rag_source.project_id,
    "documents",
    vectors.reduce((sum, vector) => sum + 4 * vector.length, 0),
  );
  return inTransaction(async (client) => {
    const { rowCount } = await client.query(
      "SELECT FROM rag_documents WHERE id = $1 AND generation = $2 AND status = 'indexing' FOR UPDATE",
      [document_id, generation],
    );
    if (!rowCount) return 0;
    let done = 0;
    for (const [index, { id }] of chunks.entries()) {
      // One that has its vector by now got it from a process that was taken for dead.
      const set = await client.query("UPDATE rag_chunks SET embedding = $2::real[] WHERE id = $1 AND cardinality(embedding) = 0", [
        id,
        normalized(vectors[index] ?? []),
      ]);
      done += set.rowCount ?? 0;
    }
    await client.query("UPDATE rag_documents SET chunks_done = chunks_done + $2, error = NULL, updated_at = now() WHERE id = $1", [
      document_id,
      done,
    ]);
    return chunks.length;
  });
}

/**
 * Makes the vectors of pieces that have none, for some seconds, and marks the document ready when all have one.
 * @returns isOver: nothing is left to do, for this indexing
 * @throws what may pass, for the executor to try again
 */
export const embedPieces = (indexing: Indexing): Promise<{ isOver: boolean }> =>
  guarded(indexing, async () => {
    const until = Date.now() + STEP_MS;
    do {
      const row = await current(indexing);
      if (!row) return { isOver: true };
      if ((await embedSome(indexing, row)) > 0) continue;
      await db().$transaction(async (tx) => {
        const { count } = await tx.ragDocument.updateMany({
          where: { id: row.id, generation: indexing.generation, status: "indexing" },
          data: { status: "ready", error: null },
        });
        if (count) await tx.ragSource.update({ where: { id: row.rag_source_id }, data: { revision: { increment: 1 } } });
      });
      return { isOver: true };
    } while (Date.now() < until);
    return { isOver: false };
  });
