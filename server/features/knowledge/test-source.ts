import type { RagSource } from "#prisma/generated/client.ts";
import { openRemote } from "#server/features/knowledge/config.ts";
import { embed, embeddingOf } from "#server/features/knowledge/embedding.ts";
import { countDocuments, findRag } from "#server/features/knowledge/find-source.ts";
import type { RagConfigs, RagTest } from "#server/features/knowledge/schema.ts";
import { searchHttp } from "#server/features/knowledge/sources/http-source.ts";
import { inspectPgvector, searchPgvector } from "#server/features/knowledge/sources/pgvector.ts";
import { inspectQdrant, searchQdrant } from "#server/features/knowledge/sources/qdrant.ts";
import type { Reaching } from "#server/features/knowledge/sources/remote-hit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isAppError } from "#server/platform/errors.ts";

const SAMPLE = "test";

const plural = (count: number, one: string) => `${count.toLocaleString("en")} ${one}${count === 1 ? "" : "s"}`;

/** A vector of the source's embedding model; undefined when it has none. */
async function sampleVector(source: RagSource, config: object): Promise<number[] | undefined> {
  const embedding = await embeddingOf(source.project_id, config);
  return embedding && (await embed(source.project_id, embedding, [SAMPLE]))[0];
}

async function testDocuments(source: RagSource, config: object): Promise<RagTest> {
  const counts = (await countDocuments([source.id])).get(source.id) ?? { total: 0, ready: 0, indexing: 0, failed: 0 };
  const chunks = await db().ragChunk.count({ where: { rag_source_id: source.id } });
  const vector = await sampleVector(source, config);
  const details = {
    documents: counts.total,
    ready: counts.ready,
    indexing: counts.indexing,
    failed: counts.failed,
    chunks,
    dimensions: vector?.length ?? null,
  };
  const found = `${plural(counts.ready, "document")} ready, in ${plural(chunks, "piece")}`;
  const rest = [counts.indexing && `${counts.indexing} being indexed`, counts.failed && `${counts.failed} failed`]
    .filter(Boolean)
    .join(", ");
  const how = vector ? `searched by words and by vectors of ${vector.length} dimensions` : "searched by words";
  return { ok: true, message: `${found}${rest ? ` (${rest})` : ""}; ${how}.`, details };
}

/** The sentence of a vector store whose vectors are of another length than the model's. */
const mismatch = (stored: number, made: number) =>
  `The stored vectors have ${stored} dimensions, those of the embedding model ${made}. Choose the model that they were made with.`;

async function testPgvector(source: RagSource, config: Reaching<RagConfigs["pgvector"]>): Promise<RagTest> {
  const { rows, isMore, dimensions } = await inspectPgvector(config);
  const vector = (await sampleVector(source, config)) ?? [];
  const details = { table: config.table, rows, dimensions, model_dimensions: vector.length };
  if (dimensions !== null && dimensions !== vector.length) return { ok: false, message: mismatch(dimensions, vector.length), details };
  await searchPgvector(config, vector, 1);
  const found = `${isMore ? "More than " : ""}${plural(rows, "row")} in ${config.table}`;
  return { ok: true, message: `${found}${dimensions === null ? "" : `, vectors of ${dimensions} dimensions`}.`, details };
}

async function testQdrant(source: RagSource, config: Reaching<RagConfigs["qdrant"]>): Promise<RagTest> {
  const { points, dimensions, distance } = await inspectQdrant(config);
  const vector = (await sampleVector(source, config)) ?? [];
  const details = { collection: config.collection, points, dimensions, distance, model_dimensions: vector.length };
  if (dimensions !== null && dimensions !== vector.length) return { ok: false, message: mismatch(dimensions, vector.length), details };
  const found = await searchQdrant(config, vector, 1);
  if (points > 0 && !found.length) {
    const message = `The collection has ${plural(points, "point")}, but the nearest one has no text in its payload field "${config.text_field}". Check the text field.`;
    return { ok: false, message, details };
  }
  return {
    ok: true,
    message: `${plural(points, "point")} in ${config.collection}${dimensions === null ? "" : `, vectors of ${dimensions} dimensions`}.`,
    details,
  };
}

async function testHttp(config: Reaching<RagConfigs["http"]>): Promise<RagTest> {
  const hits = await searchHttp(config, SAMPLE, 5);
  return {
    ok: true,
    message: `The service answered a search for "${SAMPLE}"; results with text: ${hits.length}.`,
    details: { results: hits.length },
  };
}

async function testByType(source: RagSource): Promise<RagTest> {
  const config = openRemote(source);
  // casts: settings are stored by type
  if (source.type === "pgvector") return testPgvector(source, config as Reaching<RagConfigs["pgvector"]>);
  if (source.type === "qdrant") return testQdrant(source, config as Reaching<RagConfigs["qdrant"]>);
  if (source.type === "http") return testHttp(config as Reaching<RagConfigs["http"]>);
  return testDocuments(source, config);
}

/**
 * Tries a source and says what it found. A source that does not work is an answer with `ok: false`, not an error.
 * @throws AppError NOT_FOUND
 */
export async function testRag(principal: ProjectPrincipal, { rag_id }: { rag_id: string }): Promise<RagTest> {
  const source = await findRag(principal.project.id, rag_id);
  try {
    return await testByType(source);
  } catch (error) {
    if (!isAppError(error) || error.code === "INTERNAL_ERROR") throw error;
    return { ok: false, message: error.message, details: {} };
  }
}
