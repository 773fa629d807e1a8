import { indexedText } from "#server/features/knowledge/index-document.ts";
import { OUTDATED, vectorOf } from "#server/features/knowledge/words.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import { accentFreeText, FOLDING, searchText } from "#server/shared/search-text.ts";

/** Chunks per transaction: an indexing that replaces one of them waits for it. */
const BATCH_SIZE = 200;

const CLAIM = `
  SELECT c.id, c.place, c.text, d.title, d.language
  FROM rag_chunks c
  JOIN rag_documents d ON d.id = c.document_id
  WHERE c.${OUTDATED}
  LIMIT ${BATCH_SIZE}
  FOR UPDATE OF c SKIP LOCKED`;

const UPDATE = `
  UPDATE rag_chunks c
  SET search = ${vectorOf("n.language", "n.text", "n.accent_free")}, folding = ${FOLDING}
  FROM unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) AS n(id, language, text, accent_free)
  WHERE c.id = n.id`;

interface OutdatedChunk {
  id: string;
  place: string;
  text: string;
  title: string;
  language: string;
}

/**
 * Indexes the words of chunks of an earlier release again, one batch. Their row locks are the lease, so a killed process leaves
 * the batch to the next one.
 * @returns false when none is left
 */
export const rebuildChunkWords = (): Promise<boolean> =>
  inTransaction(async (client) => {
    // A full scan would pass all chunks that are rebuilt already.
    await client.query("SET LOCAL enable_seqscan = off");
    const { rows } = await client.query<OutdatedChunk>(CLAIM);
    if (!rows.length) return false;

    const texts = rows.map((row) => searchText(indexedText(row.title, row)));
    const languages = rows.map(({ language }) => language);
    await client.query(UPDATE, [rows.map(({ id }) => id), languages, texts, texts.map(accentFreeText)]);
    return true;
  });
