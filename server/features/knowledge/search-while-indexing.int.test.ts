import { createServer } from "node:http";
import { afterAll, beforeAll, expect, test } from "vitest";
import { vectorOf } from "#e2e/fakes/knowledge-server.ts";
import { type Listening, listen } from "#e2e/fakes/listen.ts";
import { until } from "#e2e/until.ts";
import { addDocument, reindexDocument } from "#server/features/knowledge/documents.ts";
import { searchRag } from "#server/features/knowledge/search.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import type { JobWorker } from "#server/jobs/postgres/worker.ts";
import { db } from "#server/platform/db/client.ts";
import { startTestJobs } from "#server/testing/jobs.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const QUESTION = "Who may play the drums?";

const database = testDatabase();
let worker: JobWorker;
let vectors: Listening;
/** What happens before a question gets its vector, once. */
let meanwhile: (() => Promise<void>) | undefined;
/** Holds the vectors of pieces back. */
let gate: Promise<void> | undefined;

const embeddings = createServer(async (request, response) => {
  let body = "";
  for await (const part of request) body += part;
  const texts: string[] = [JSON.parse(body).input].flat();
  const work = meanwhile;
  if (!texts.includes(QUESTION)) await gate;
  else {
    meanwhile = undefined;
    await work?.();
  }
  const data = texts.map((text, index) => ({ index, embedding: vectorOf(text) }));
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ object: "list", data }));
});

beforeAll(async () => {
  vectors = await listen(embeddings);
  worker = await startTestJobs();
});
afterAll(async () => {
  await worker.stop(1000);
  await vectors.stop();
});

test("a document that is indexed anew in the middle of a search is found", async () => {
  const admin = await database.newAdmin();
  const key = await createLlmKey(admin, {
    name: "Vectors",
    provider: "openai_compatible",
    api_key: "k-123456789",
    base_url: `${vectors.url}/v1`,
  });
  const config = { embedding_llm_key_id: key.id, embedding_model: "small" };
  const rag = await createRag(admin, { name: "House", type: "documents", config });
  const added = await addDocument(admin, { rag_id: rag.id, title: "Rules", text: "Nobody plays the drums after ten." });
  const isReady = async () => (await db().ragDocument.findUniqueOrThrow({ where: { id: added.id } })).status === "ready";
  const pieces = async () => (await db().ragChunk.findMany({ where: { document_id: added.id } })).map(({ id }) => id);
  await until(isReady);
  const before = await pieces();
  const held = Promise.withResolvers<void>();
  gate = held.promise;
  meanwhile = async () => {
    await reindexDocument(admin, { rag_id: rag.id, document_id: added.id });
    await until(async () => (await pieces()).some((id) => !before.includes(id)));
  };
  const hits = await searchRag(admin.project.id, [rag.id], QUESTION, 5);
  expect(hits.map(({ title, text }) => [title, text])).toEqual([["Rules", "Nobody plays the drums after ten."]]);
  expect(await isReady()).toBe(false);
  held.resolve();
  await until(isReady);
});
