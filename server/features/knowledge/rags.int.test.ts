// biome-ignore-all lint/style/noExcessiveLinesPerFile: one worker and one set of helpers for everything that indexes and searches
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type KnowledgeServer, startKnowledgeServer } from "#e2e/fakes/knowledge-server.ts";
import { until } from "#e2e/until.ts";
import { knowledgeTool } from "#server/features/agents/knowledge-tool.ts";
import {
  addDocument,
  addFile,
  deleteDocument,
  getDocument,
  reindexDocument,
  resumeIndexing,
} from "#server/features/knowledge/documents.ts";
import type { Rag, RagDocument } from "#server/features/knowledge/schema.ts";
import { searchOneRag, searchRag } from "#server/features/knowledge/search.ts";
import { createRag, updateRag } from "#server/features/knowledge/service.ts";
import { testRag } from "#server/features/knowledge/test-source.ts";
import { createLlmKey, deleteLlmKey, updateLlmKey } from "#server/features/llm-keys/service.ts";
import { getUsage } from "#server/features/usage/service.ts";
import type { JobWorker } from "#server/jobs/postgres/worker.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { hurryJobs, startTestJobs } from "#server/testing/jobs.ts";
import { docxFile, pdfFile } from "#server/testing/office-files.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let worker: JobWorker;
let outside: KnowledgeServer;
let admin: ProjectPrincipal;

beforeAll(async () => {
  outside = await startKnowledgeServer();
  worker = await startTestJobs();
});
afterAll(async () => {
  await worker.stop(1000);
  await outside.stop();
});
beforeEach(async () => {
  admin = await database.newAdmin();
  outside.failEmbeddings(0, 0);
});

const newSource = (config: Record<string, unknown> = {}): Promise<Rag> => createRag(admin, { name: "House", type: "documents", config });
const addText = (rag: Rag, title: string, text: string) => addDocument(admin, { rag_id: rag.id, title, text });
const newKey = () =>
  createLlmKey(admin, { name: "Vectors", provider: "openai_compatible", api_key: "k-123456789", base_url: `${outside.url}/v1` });
const withVectors = async (model = "small") => ({ embedding_llm_key_id: (await newKey()).id, embedding_model: model });

/** The document, once it is indexed or has failed. */
const settled = ({ id }: { id: string }) =>
  until(async () => {
    const row = await db().ragDocument.findUniqueOrThrow({ where: { id } });
    return row.status === "indexing" ? undefined : row;
  });
const ready = async (...documents: Promise<RagDocument>[]) => {
  for (const document of documents) expect(await settled(await document)).toMatchObject({ status: "ready", error: null });
};
const find = async (query: string, ...rags: Rag[]) =>
  searchRag(
    admin.project.id,
    rags.map(({ id }) => id),
    query,
    5,
  );

test("text, PDF and Word files are indexed, and found with document and place", async () => {
  const rag = await newSource();
  const upload = (name: string, bytes: Uint8Array) => addFile(admin, rag.id, { name, type: "", bytes, title: undefined });
  await ready(
    addText(
      rag,
      "House rules",
      "# House\n\n## Night\n\nPlease keep quiet from ten in the evening.\n\n## Garden\n\nThe roses are cut in March.",
    ),
    upload("boiler.pdf", pdfFile(["Read this first.", "The boiler stands in the cellar."])),
    upload("wifi.docx", docxFile([{ heading: 1, text: "Guests" }, { text: "The password of the network hangs at the fridge." }])),
    addText(rag, "Ключи", "Ключ от подвала висит за дверью."),
    addText(rag, "购票", "我们可以在车站购买火车票。"),
    upload("notes.txt", Buffer.from("Der Müll wird am Dienstag abgeholt, und die Tonnen stehen im Hof.")),
  );
  expect((await find("When are roses cut?", rag))[0]).toMatchObject({
    title: "House rules",
    place: "House › Garden",
    text: "The roses are cut in March.",
    rag_id: rag.id,
  });
  expect((await find("where is the boiler", rag))[0]).toMatchObject({ title: "boiler.pdf", place: "Page 2", uri: null });
  expect((await find("network passwords", rag))[0]).toMatchObject({ title: "wifi.docx", place: "Guests" });
  expect((await find("Wo stehen die Mülltonnen im Hof?", rag))[0]).toMatchObject({ title: "notes.txt" });
  expect((await find("КЛЮЧИ ОТ ПОДВАЛА", rag))[0]).toMatchObject({ title: "Ключи" });
  expect((await find("在哪里买火车票？", rag))[0]).toMatchObject({ title: "购票" });
  expect(await find("submarine", rag)).toEqual([]);
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({
    ok: true,
    details: { documents: 6, ready: 6, failed: 0, dimensions: null },
  });
});

test("what is odd in a question breaks nothing", async () => {
  const rag = await newSource();
  await ready(addText(rag, "C:\\temp", "It's the path C:\\temp\\new & 'quoted' | (words) :* <-> !important"));
  for (const query of ["'", "\\", "it's 'quoted'", "C:\\temp\\new", "& | ! ( ) :* <->", "a\u0000b", "\ud800 words", "  ", "x".repeat(5000)])
    await expect(find(query, rag)).resolves.toBeInstanceOf(Array);
  expect((await find("'quoted' \\ words", rag))[0]).toMatchObject({ title: "C:\\temp" });
});

test("another project's source is never searched", async () => {
  const rag = await newSource();
  await ready(addText(rag, "Secret", "The treasure lies under the oak."));
  const other = await database.newAdmin();
  expect(await searchRag(other.project.id, [rag.id, "no-uuid"], "treasure oak", 5)).toEqual([]);
});

test("with an embedding key, what means the same is found too, and both lists are fused", async () => {
  const rag = await newSource(await withVectors());
  await ready(
    addText(rag, "Garage", "The car needs a new tyre."),
    addText(rag, "Pets", "The cat sleeps."),
    addText(rag, "Health", "The doctor comes on Monday."),
  );
  expect((await find("automobile", rag))[0]).toMatchObject({ title: "Garage" });
  expect((await find("physician Monday", rag))[0]).toMatchObject({ title: "Health", score: expect.closeTo(2 / 61, 5) });
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({ ok: true, details: { dimensions: 48, documents: 3 } });
});

test("a question whose vector cannot be had is answered by words", async () => {
  const rag = await newSource(await withVectors());
  await ready(addText(rag, "Garage", "The car needs a new tyre."));
  outside.failEmbeddings(500, 1);
  expect((await find("tyre", rag))[0]).toMatchObject({ title: "Garage" });
});

test("a part of a search that failed is told beside what was found, to who tries a source and to the model", async () => {
  const rag = await newSource(await withVectors());
  await ready(addText(rag, "Garage", "The car needs a new tyre."));
  const search = () => searchOneRag(admin, { rag_id: rag.id, query: "tyre", limit: 5 });
  expect(await search()).not.toHaveProperty("problems");
  outside.failEmbeddings(500, 2);
  const words = `"${rag.name}" was searched by words only: OpenAI-compatible answered 500`;
  expect(await search()).toMatchObject({ items: [{ title: "Garage" }], problems: [expect.stringContaining(words)] });
  const away = await createRag(admin, { name: "Away", type: "http", config: { url: "http://127.0.0.1:1/search" } });
  const tool = knowledgeTool(admin.project.id, [rag, away]);
  const { result, success } = await tool.call({ query: "tyre" }, { signal: new AbortController().signal });
  expect(success).toBe(true);
  expect(result).toMatch(/^\[1\] Garage\nThe car needs a new tyre\.\n\nMore might have been found, but a part of the search failed\. /);
  expect(result).toContain(words);
  expect(result).toContain('"Away" could not be searched: No server accepts connections at 127.0.0.1:1.');
  const alone = knowledgeTool(admin.project.id, [away]);
  await expect(alone.call({ query: "tyre" }, { signal: new AbortController().signal })).resolves.toMatchObject({ success: false });
});

test("an agent's tool numbers each piece once, however often it searches, and names what can be cited", async () => {
  const rag = await newSource();
  await ready(addText(rag, "Prices", "# Fruit\n\n## Pears\n\nPears cost three euro.\n\n## Plums\n\nPlums cost two euro."));
  const tool = knowledgeTool(admin.project.id, [{ id: rag.id, name: rag.name }]);
  const asked = (query: string) => tool.call({ query }, { signal: new AbortController().signal });
  const pears = await asked("pears");
  expect(pears.result).toBe("[1] Prices · Fruit › Pears\nPears cost three euro.");
  const plums = await asked("plums");
  expect(plums.result).toBe("[2] Prices · Fruit › Plums\nPlums cost two euro.");
  expect((await asked("pears")).result).toBe(pears.result);
  expect(plums.sources).toEqual([
    {
      ...{ number: 2, rag_id: rag.id, document_id: expect.any(String), title: "Prices", uri: null, place: "Fruit › Plums" },
      ...{ excerpt: "Plums cost two euro.", read_at: expect.stringMatching(/^\d{4}-.*Z$/) },
    },
  ]);
});

test("another embedding model indexes everything anew; a key in use is not deleted", async () => {
  const rag = await newSource();
  const document = await addText(rag, "Garage", "The car needs a new tyre.");
  await ready(Promise.resolve(document));
  const config = await withVectors();
  const dimensions = async () => (await db().ragChunk.findFirstOrThrow({ where: { document_id: document.id } })).embedding.length;
  await updateRag(admin, { rag_id: rag.id, config });
  await ready(Promise.resolve(document));
  expect(await dimensions()).toBe(48);
  await updateRag(admin, { rag_id: rag.id, config: { embedding_model: "longer" } });
  await ready(Promise.resolve(document));
  expect(await dimensions()).toBe(56);
  expect((await find("automobile", rag))[0]).toMatchObject({ title: "Garage" });
  await expect(deleteLlmKey(admin, { key_id: config.embedding_llm_key_id })).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining('"House"'),
  });
  await updateRag(admin, { rag_id: rag.id, config: { embedding_llm_key_id: null, embedding_model: null } });
  await ready(Promise.resolve(document));
  expect(await find("automobile", rag)).toEqual([]);
});

test("a model that does not exist fails the document with the provider's words; indexing again heals it", async () => {
  const config = await withVectors("no-such-model");
  const rag = await newSource(config);
  const document = await addText(rag, "Garage", "The car needs a new tyre.");
  expect(await settled(document)).toMatchObject({ status: "failed", error: expect.stringContaining("no-such-model does not exist") });
  expect(await find("tyre", rag)).toEqual([]);
  await updateRag(admin, { rag_id: rag.id, config: { embedding_model: "small" } });
  await ready(Promise.resolve(document));
  expect((await find("tyre", rag))[0]).toMatchObject({ title: "Garage" });
});

test("a provider that is down for a while costs time only, and says so meanwhile", async () => {
  const rag = await newSource(await withVectors());
  outside.failEmbeddings(503, 2);
  const document = await addText(rag, "Garage", "The car needs a new tyre.");
  await until(async () => (await db().ragDocument.findUniqueOrThrow({ where: { id: document.id } })).error?.includes("It is tried again."));
  const moving = setInterval(() => void hurryJobs(), 200);
  await ready(Promise.resolve(document)).finally(() => clearInterval(moving));
});

test("a process that dies in the middle of a long document goes on where it was", async () => {
  const rag = await newSource(await withVectors());
  const text = Array.from({ length: 200 }, (_, index) => `## Part ${index}\n\nUnmistakable${index} is written here.`).join("\n\n");
  const document = await addText(rag, "Long", text);
  const row = () => db().ragDocument.findUniqueOrThrow({ where: { id: document.id } });
  const whole = async () =>
    (await db().ragChunk.findMany({ where: { document_id: document.id, embedding: { isEmpty: false } }, select: { id: true } })).map(
      ({ id }) => id,
    );
  await until(async () => (await row()).chunks_done > 0);
  await worker.stop(0);
  const before = await whole();
  worker = await startTestJobs();
  const moving = setInterval(() => void hurryJobs(), 200);
  await ready(Promise.resolve(document)).finally(() => clearInterval(moving));
  expect(await row()).toMatchObject({ chunk_count: 200, chunks_done: 200 });
  expect(before.length).toBeGreaterThan(0);
  expect(await whole()).toEqual(expect.arrayContaining(before)); // the pieces themselves, not made anew
  expect((await find("Unmistakable137", rag))[0]).toMatchObject({ place: "Part 137" });
});

test("a page is fetched by its address, named by its title, and fetched anew when indexed again", async () => {
  const rag = await newSource();
  const document = await addDocument(admin, { rag_id: rag.id, url: `${outside.url}/pages/moved#part` });
  await ready(Promise.resolve(document));
  expect((await find("apples", rag))[0]).toMatchObject({ title: "Fruit", uri: `${outside.url}/pages/moved` });
  outside.page = "The second version of the page is about pears.";
  await reindexDocument(admin, { rag_id: rag.id, document_id: document.id });
  await ready(Promise.resolve(document));
  expect([await find("apples", rag), (await find("pears", rag)).length]).toEqual([[], 1]);
  expect(await getDocument(admin, { rag_id: rag.id, document_id: document.id })).toMatchObject({
    text: expect.stringContaining("pears"),
    chunk_count: 1,
    progress: 1,
  });
});

for (const [path, error] of [
  ["/pages/nothing", "answered 404"],
  ["/pages/endless", "redirects more than 5 times"],
  ["/pages/picture", "cannot be read"],
] as const)
  test(`the address ${path} fails with the reason`, async () => {
    const rag = await newSource();
    const document = await addDocument(admin, { rag_id: rag.id, url: outside.url + path });
    expect(await settled(document)).toMatchObject({ status: "failed", error: expect.stringContaining(error) });
  });

test.each([
  [undefined, "House rules"],
  ["Rules of 2024", "Rules of 2024"],
])("names a Markdown file by its front matter when its title is %s", async (title, expected) => {
  const rag = await newSource();
  const bytes = Buffer.from("---\ntitle: House rules\n---\nQuiet from ten.");

  const document = await addFile(admin, rag.id, { name: "rules.md", type: "", bytes, title });

  expect(document.title).toBe(expected);
});

test("the same content again is refused, naming the document; one that failed is replaced", async () => {
  const rag = await newSource();
  const first = await addText(rag, "One", "The same words.");
  await expect(addText(rag, "Two", "The same words.")).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining('"One"'),
  });
  const broken = await addFile(admin, rag.id, { name: "a.pdf", type: "", bytes: pdfFile([""]), title: undefined });
  expect(await settled(broken)).toMatchObject({ status: "failed", error: expect.stringContaining("OCR") });
  const again = await addFile(admin, rag.id, { name: "b.pdf", type: "", bytes: pdfFile([""]), title: undefined });
  expect(again.id).not.toBe(broken.id);
  await ready(Promise.resolve(first));
  await deleteDocument(admin, { rag_id: rag.id, document_id: first.id });
  expect(await find("same words", rag)).toEqual([]);
  await ready(addText(rag, "Three", "The same words."));
});

test("an event that got lost is made up for", async () => {
  const rag = await newSource();
  await worker.stop(1000);
  const document = await addText(rag, "One", "Some words.");
  await pool().query("DELETE FROM treadle_worker._private_jobs");
  worker = await startTestJobs();
  expect(await resumeIndexing()).toBe(0); // not yet for long
  await pool().query("UPDATE rag_documents SET updated_at = now() - interval '16 minutes' WHERE id = $1", [document.id]);
  expect(await resumeIndexing()).toBe(1);
  await ready(Promise.resolve(document));
});

test("a Qdrant collection is tested and searched with its key", async () => {
  const config = {
    url: outside.url,
    api_key: "qdrant-secret-key",
    collection: "things",
    title_field: "title",
    uri_field: "link",
    ...(await withVectors()),
  };
  const rag = await createRag(admin, { name: "Things", type: "qdrant", config });
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toEqual({
    ok: true,
    message: "2 points in things, vectors of 48 dimensions.",
    details: { collection: "things", points: 2, dimensions: 48, distance: "Cosine", model_dimensions: 48 },
  });
  expect(await find("automobile tyre", rag)).toMatchObject([
    { document_id: "1", title: "Garage", uri: "https://example.com/garage", text: "The car needs a new tyre." },
    { title: "Pets", uri: null },
  ]);
  await updateRag(admin, { rag_id: rag.id, config: { embedding_model: "longer" } });
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({
    ok: false,
    message: expect.stringContaining("48 dimensions, those of the embedding model 56"),
  });
  await updateRag(admin, { rag_id: rag.id, config: { api_key: "another-secret-key" } });
  const failed = await testRag(admin, { rag_id: rag.id });
  expect(failed).toMatchObject({ ok: false, message: expect.stringContaining("answered 403") });
  expect(failed.message).not.toContain("another-secret-key");
});

test("a missing setting is named in the sentence, and a service that is away in its middle", async () => {
  const config = { url: "http://127.0.0.1:1/search" };
  await expect(createRag(admin, { name: "Points", type: "qdrant", config: { url: outside.url, collection: "c" } })).rejects.toMatchObject({
    message: "config.embedding_llm_key_id: This field is required.",
  });
  const rag = await createRag(admin, { name: "Away", type: "http", config });
  expect((await testRag(admin, { rag_id: rag.id })).message).toBe(
    "No server accepts connections at 127.0.0.1:1. Check the address of the search service, and that it runs.",
  );
});

test("a search service is asked with its headers, and paths of its answer are followed", async () => {
  const config = {
    url: `${outside.url}/search`,
    headers: { Authorization: "Bearer search-secret" },
    results_path: "data.hits",
    text_field: "body.text",
    title_field: "name",
  };
  const rag = await createRag(admin, { name: "Service", type: "http", config });
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({ ok: true, details: { results: 2 } });
  expect((await find("bees", rag))[0]).toMatchObject({
    document_id: "a1",
    title: "Answer",
    uri: "https://example.com/a1",
    text: "About bees",
  });
  await updateRag(admin, { rag_id: rag.id, config: { method: "GET" } });
  expect((await find("wasps", rag))[0]).toMatchObject({ text: "About wasps" });
  await updateRag(admin, { rag_id: rag.id, config: { results_path: "items" } });
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({
    ok: false,
    message: expect.stringContaining('no list at "items"'),
  });
  await updateRag(admin, { rag_id: rag.id, config: { headers: { Authorization: "Bearer wrong-secret" } } });
  const failed = await testRag(admin, { rag_id: rag.id });
  expect(failed).toMatchObject({ ok: false, message: expect.stringContaining("answered 401") });
  expect(failed.message).not.toContain("wrong-secret");
  await expect(find("x", rag)).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  const local = await newSource();
  await ready(addText(local, "Local", "About bees."));
  expect((await find("bees", rag, local))[0]).toMatchObject({ title: "Local" });
});

test("a table with vectors is tested and searched", async () => {
  // PostgreSQL without the extension: a type and functions of the same names, over text.
  for (const sql of [
    "CREATE DOMAIN vector AS text",
    "CREATE FUNCTION vector_dims(text) RETURNS int LANGUAGE sql IMMUTABLE AS $$ SELECT cardinality(translate($1, '[]', '{}')::float8[]) $$",
    "CREATE FUNCTION cosine_distance(text, text) RETURNS float8 LANGUAGE sql IMMUTABLE AS $$ SELECT 1 - sum(a * b) / sqrt(sum(a * a) * sum(b * b)) FROM unnest(translate($1, '[]', '{}')::float8[], translate($2, '[]', '{}')::float8[]) AS t(a, b) $$",
    "CREATE OPERATOR <=> (LEFTARG = text, RIGHTARG = text, FUNCTION = cosine_distance)",
    "CREATE SCHEMA store",
    'CREATE TABLE store."Pieces" (id int, content text, name text, embedding vector)',
  ])
    await pool().query(sql);
  const { vectorOf } = await import("#e2e/fakes/knowledge-server.ts");
  for (const [id, text] of ["The car needs a new tyre.", "The cat sleeps."].entries())
    await pool().query('INSERT INTO store."Pieces" VALUES ($1, $2, $3, $4)', [id, text, `Piece ${id}`, JSON.stringify(vectorOf(text))]);
  const connection_string = Object.assign(new URL(settings().DATABASE_URL ?? ""), { search: "" }).href;
  const config = { connection_string, table: "store.Pieces", title_column: "name", ...(await withVectors()) };
  const rag = await createRag(admin, { name: "Table", type: "pgvector", config });
  expect(JSON.stringify(rag.config)).not.toContain(`:${new URL(connection_string).password}@`);
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({
    ok: true,
    message: "2 rows in store.Pieces, vectors of 48 dimensions.",
  });
  expect(await find("automobile", rag)).toMatchObject([
    { document_id: "0", title: "Piece 0", text: "The car needs a new tyre." },
    { document_id: "1" },
  ]);
  await updateRag(admin, { rag_id: rag.id, config: { text_column: 'con"tent' } });
  await expect(testRag(admin, { rag_id: rag.id })).resolves.toMatchObject({
    ok: false,
    message: expect.stringContaining("column was not found"),
  });
  await updateRag(admin, {
    rag_id: rag.id,
    config: { connection_string: connection_string.replace(/:\/\/[^@]*@/, "://nobody:wrong-password@") },
  });
  const failed = await testRag(admin, { rag_id: rag.id });
  expect(failed).toMatchObject({ ok: false });
  expect(failed.message).not.toContain("wrong-password");
});

test("an address on a private network is for install admins to choose, as it is for MCP servers", async () => {
  const owner = await database.newInstallAdmin();
  const owned: ProjectPrincipal = { ...owner, project: admin.project, role: "editor" };
  const vectors = await withVectors();
  const configs = {
    http: { url: `${outside.url}/search` },
    qdrant: { url: outside.url, collection: "house", ...vectors },
    pgvector: { connection_string: "postgresql://reader@127.0.0.1:1/house", table: "pieces", ...vectors },
  };
  try {
    setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE: "1" });
    for (const [type, config] of Object.entries(configs)) {
      const input = { name: type, type, config } as Parameters<typeof createRag>[1];
      await expect(createRag(admin, input)).rejects.toMatchObject({
        code: "VALIDATION_ERROR",
        message: expect.stringMatching(/private network, which only install admins can save/),
        errors: [{ path: type === "pgvector" ? "config.connection_string" : "config.url" }],
      });
      const made = await createRag(owned, input);
      // What the install admin chose goes on working for others, but they cannot point it elsewhere in that network.
      const elsewhere = type === "pgvector" ? { connection_string: "postgresql://reader@127.0.0.1:2/house" } : { url: "http://10.0.0.1/" };
      await expect(updateRag(admin, { rag_id: made.id, name: `${type} of ours`, config: {} })).resolves.toMatchObject({ type });
      await expect(updateRag(admin, { rag_id: made.id, config: elsewhere })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
      expect((await testRag(admin, { rag_id: made.id })).message).not.toMatch(/private or reserved/);
      // One that somebody else chose while the name led to the internet is checked at each call.
      await db().ragSource.update({ where: { id: made.id }, data: { private_allowed: false } });
      expect(await testRag(admin, { rag_id: made.id })).toMatchObject({ ok: false, message: expect.stringMatching(/private or reserved/) });
      // An install admin who saves it again allows it.
      await updateRag(owned, { rag_id: made.id, config: {} });
      expect((await testRag(admin, { rag_id: made.id })).message).not.toMatch(/private or reserved/);
    }
  } finally {
    setSettings({ ALLOW_PRIVATE_NETWORK: "1", TREADLE_EMBEDDED_DATABASE: "0" });
  }
});

test("vectors are counted in the usage, when they are made and when a question is asked; an unknown price stays unknown", async () => {
  const knowledge = async () => (await getUsage(admin, { group_by: "source" })).items.find(({ key }) => key === "knowledge");
  const config = await withVectors();
  const rag = await newSource(config);
  expect(await knowledge()).toBeUndefined();
  await ready(addText(rag, "Looms", "A loom turns thread into cloth."));
  expect(await knowledge()).toMatchObject({ calls: 1, input_tokens: 1, cost: null, cost_is_partial: true });
  await updateLlmKey(admin, {
    key_id: config.embedding_llm_key_id,
    prices: [{ model: "small", input_per_million: 20, output_per_million: 0 }],
  });
  await searchRag(admin.project.id, [rag.id], "cloth", 3);
  expect(await knowledge()).toMatchObject({ calls: 2, calls_without_price: 1, input_tokens: 2, cost: 0.00002 });
  // Words alone ask nobody.
  await searchRag(admin.project.id, [(await createRag(admin, { name: "Words", type: "documents", config: {} })).id], "cloth", 3);
  const { total, items } = await getUsage(admin, { group_by: "agent" });
  expect([total.calls, items.map(({ key, name }) => [key, name])]).toEqual([2, [[null, null]]]);
});
