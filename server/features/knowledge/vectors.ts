import { LRUCache } from "lru-cache";
import { pool } from "#server/platform/db/client.ts";

// Vectors are compared one by one, exactly. They are kept in memory as long as nothing of the source changes, because
// reading them takes a hundred times as long as comparing them.

interface Copy {
  revision: number;
  ids: string[];
  /** All vectors, one after the other. */
  values: Float32Array;
}

/** What all copies together may take, in bytes. */
const MOST_KEPT = 256 * 1024 * 1024;
const READ_AT_ONCE = 2000;
/** How PostgreSQL sends an array of one dimension: a head, then for each value its length and the value. */
const HEAD_BYTES = 20;
const VALUE_BYTES = 8;

const copies = new LRUCache<string, Copy>({ maxSize: MOST_KEPT, sizeCalculation: ({ values }) => values.byteLength });

function readVector(packed: Buffer, into: Float32Array, offset: number, dimensions: number): void {
  for (let index = 0; index < dimensions; index++) into[offset + index] = packed.readFloatBE(HEAD_BYTES + index * VALUE_BYTES + 4);
}

function product(vector: Float32Array, values: Float32Array, offset: number): number {
  let sum = 0;
  for (let index = 0; index < vector.length; index++) sum += (vector[index] ?? 0) * (values[offset + index] ?? 0);
  return sum;
}

/** The best of what is added. */
class Best {
  readonly #limit: number;
  #found: { id: string; score: number }[] = [];

  constructor(limit: number) {
    this.#limit = limit;
  }

  add(ids: readonly string[], values: Float32Array, vector: Float32Array): void {
    for (const [index, id] of ids.entries()) this.#found.push({ id, score: product(vector, values, index * vector.length) });
    this.#found = this.#found.sort((a, b) => b.score - a.score).slice(0, this.#limit);
  }

  ids = (): string[] => this.#found.map(({ id }) => id);
}

/** The vectors of a source's ready documents, some thousand at a time. Those of another model have another length. */
async function* read(ragId: string, dimensions: number): AsyncGenerator<{ ids: string[]; values: Float32Array }> {
  let after = "00000000-0000-0000-0000-000000000000";
  for (;;) {
    const { rows } = await pool().query<{ id: string; packed: Buffer }>(
      `SELECT c.id, array_send(c.embedding) AS packed FROM rag_chunks c JOIN rag_documents d ON d.id = c.document_id
       WHERE c.rag_source_id = $1 AND d.status = 'ready' AND c.id > $2 AND cardinality(c.embedding) = $3
       ORDER BY c.id LIMIT ${READ_AT_ONCE}`,
      [ragId, after, dimensions],
    );
    if (!rows.length) return;
    const values = new Float32Array(rows.length * dimensions);
    for (const [index, { packed }] of rows.entries()) readVector(packed, values, index * dimensions, dimensions);
    yield { ids: rows.map(({ id }) => id), values };
    after = rows.at(-1)?.id ?? after;
  }
}

/**
 * The pieces of a source whose vectors are nearest to one of length 1, best first.
 * @param revision of the source, as it is stored now
 * @returns ids of chunks
 */
export async function searchVectors(source: { id: string; revision: number }, nearTo: readonly number[], limit: number): Promise<string[]> {
  const vector = Float32Array.from(nearTo);
  const key = `${source.id} ${vector.length}`;
  const best = new Best(limit);
  const copy = copies.get(key);
  if (copy?.revision === source.revision) {
    best.add(copy.ids, copy.values, vector);
    return best.ids();
  }
  const parts: { ids: string[]; values: Float32Array }[] = [];
  let bytes = 0;
  for await (const part of read(source.id, vector.length)) {
    best.add(part.ids, part.values, vector);
    bytes += part.values.byteLength;
    // Too many to keep: compared as they are read, each time.
    if (bytes <= MOST_KEPT) parts.push(part);
    else parts.length = 0;
  }
  if (bytes > 0 && bytes <= MOST_KEPT) {
    const values = new Float32Array(bytes / Float32Array.BYTES_PER_ELEMENT);
    let at = 0;
    for (const part of parts) {
      values.set(part.values, at);
      at += part.values.length;
    }
    copies.set(key, { revision: source.revision, ids: parts.flatMap(({ ids }) => ids), values });
  }
  return best.ids();
}
