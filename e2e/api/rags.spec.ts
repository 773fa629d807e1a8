import { file, newSource, upload } from "#e2e/api/rag-forms.ts";
import { type KnowledgeServer, startKnowledgeServer } from "#e2e/fakes/knowledge-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { Rag, RagDocument, RagPage, RagTest } from "#server/features/knowledge/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

let outside: KnowledgeServer;
test.beforeAll(async () => {
  outside = await startKnowledgeServer();
});
test.afterAll(() => outside.stop());

test("a source is created, listed, changed and deleted", async ({ api }) => {
  const rag = await newSource(api);
  expect(rag).toMatchObject({
    name: "Handbook",
    type: "documents",
    config: { embedding_llm_key_id: null, embedding_model: null },
    documents: { total: 0, ready: 0, indexing: 0, failed: 0 },
  });
  expect((await api.get("/rags", { schema: RagPage })).body).toEqual({ items: [rag], total: 1, page: 1, per_page: 50 });
  // What a GET gave may be sent back whole, and what is left out keeps its value.
  const { body } = await api.put(`/rags/${rag.id}`, { ...rag, name: "Rules" }, { schema: Rag, status: 200 });
  expect(body).toEqual({ ...rag, name: "Rules", updated_at: body.updated_at });
  expect((await api.put(`/rags/${rag.id}`, {}, { schema: Rag })).body).toMatchObject({ name: "Rules", config: rag.config });
  expect((await api.del(`/rags/${rag.id}`, { status: 204 })).body).toBeUndefined();
  await api.get(`/rags/${rag.id}`, { status: 404 });
  expect((await api.get("/rags")).body.total).toBe(0);
});

for (const { what, fields, path, says } of [
  { what: "an unknown type", fields: { type: "files" }, path: "type", says: "" },
  { what: "an unknown field", fields: { nmae: "x" }, path: "nmae", says: "no such field" },
  {
    what: "a setting of another type",
    fields: { config: { url: "https://example.com" } },
    path: "config.url",
    says: "has no such setting",
  },
  { what: "a model without a key", fields: { config: { embedding_model: "m" } }, path: "config.embedding_llm_key_id", says: "together" },
  {
    what: "a key that is not the project's",
    fields: { config: { embedding_llm_key_id: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", embedding_model: "m" } },
    path: "config.embedding_llm_key_id",
    says: "no such LLM key",
  },
  { what: "an address that is none", fields: { type: "http", config: { url: "ftp://x" } }, path: "config.url", says: "" },
  {
    what: "a password in the address",
    fields: { type: "http", config: { url: "https://a:b@example.com" } },
    path: "config.url",
    says: "Leave the user name",
  },
  {
    what: "a missing collection",
    fields: { type: "qdrant", config: { url: "https://example.com", embedding_llm_key_id: "k", embedding_model: "m" } },
    path: "config.collection",
    says: "",
  },
  {
    what: "a broken header name",
    fields: { type: "http", config: { url: "https://example.com", headers: { "a b": "c" } } },
    path: "config.headers.a b",
    says: "",
  },
  {
    what: "a socket behind a connection string",
    fields: {
      type: "pgvector",
      config: { connection_string: "postgres://u:p@h/db?host=/tmp", table: "t", embedding_llm_key_id: "k", embedding_model: "m" },
    },
    path: "config.connection_string",
    says: "Only sslmode",
  },
])
  test(`${what} is refused with the field`, async ({ api }) => {
    const { body } = await api.post("/rags", { name: "Source", type: "documents", ...fields }, { schema: undefined, status: 422 });
    expect(ErrorBody.parse(body).errors).toEqual([{ path, message: expect.stringContaining(says) }]);
    expect((await api.get("/rags")).body.total).toBe(0);
  });

test("secrets never come back, stay when they are left out or sent as shown, and follow no new address", async ({ api }) => {
  const config = {
    url: `${outside.url}/search`,
    headers: { Authorization: "Bearer search-secret", "X-Other": "plain-secret" },
    results_path: "data.hits",
    text_field: "body.text",
  };
  const rag = await newSource(api, { type: "http", config });
  const works = async () => (await api.post(`/rags/${rag.id}/test`, {}, { schema: RagTest, status: 200 })).body.ok;
  expect(rag.config).toMatchObject({ headers: { Authorization: "••••", "X-Other": "••••" } });
  expect(await works()).toBe(true);
  await api.put(`/rags/${rag.id}`, { config: { results_path: "data.hits" } }, { status: 200 });
  expect(await works()).toBe(true);
  await api.put(`/rags/${rag.id}`, rag, { status: 200 });
  expect(await works()).toBe(true);
  const moved = await api.put(`/rags/${rag.id}`, { config: { url: "https://example.com/search" } }, { status: 422 });
  expect(moved.body.errors).toEqual([{ path: "config.headers", message: expect.stringContaining("give the secret again") }]);
  const kept = await api.put(`/rags/${rag.id}`, { config: { headers: { Authorization: "••••" } } }, { schema: Rag });
  expect(kept.body.config).toMatchObject({ headers: { Authorization: "••••" } });
  expect(await works()).toBe(true);
  expect(outside.headers.get("/search")).not.toHaveProperty("x-other");
  await api.put(`/rags/${rag.id}`, { config: { headers: { "X-New": "••••" } } }, { status: 422 });
  const all = JSON.stringify([(await api.get("/rags")).body, (await api.get(`/rags/${rag.id}`)).body, kept.body, moved.body]);
  expect(all).not.toMatch(/search-secret|plain-secret/);
});

test("a source stays of its type", async ({ api }) => {
  const rag = await newSource(api);
  await api.put(`/rags/${rag.id}`, { type: "documents" }, { status: 200 });
  const { body } = await api.put(`/rags/${rag.id}`, { type: "http" }, { status: 422 });
  expect(body.errors).toEqual([{ path: "type", message: expect.stringContaining("documents") }]);
});

test("a name is used once in a project, and free in another", async ({ api, newProject }) => {
  const rag = await newSource(api);
  const { body } = await api.post("/rags", { name: "Handbook", type: "documents" }, { status: 409 });
  expect(body).toMatchObject({ error_code: "CONFLICT", detail: expect.stringContaining('"Handbook"') });
  const other = await newSource(api, { name: "Other" });
  await api.put(`/rags/${other.id}`, { name: rag.name }, { status: 409 });
  await newSource((await newProject()).api);
});

test("a source in use is not deleted; the refusal names the agent", async ({ api, agent }) => {
  const rag = await newSource(api);
  const { id } = await agent({ model: "echo", name: "Librarian", rag_ids: [rag.id] });
  const { body } = await api.del(`/rags/${rag.id}`, { status: 409 });
  expect(body.detail).toContain('"Librarian"');
  await api.put(`/agents/${id}`, { rag_ids: [] }, { status: 200 });
  await api.del(`/rags/${rag.id}`, { status: 204 });
});

test("viewers read and search; editors also write", async ({ api, newUser }) => {
  const rag = await newSource(api);
  const { body: document } = await api.post(`/rags/${rag.id}/documents`, { title: "One", text: "Words." }, { schema: RagDocument });
  const [viewer, editor] = [await newUser({ role: "viewer" }), await newUser({ role: "editor" })];
  for (const path of [
    "/rags",
    `/rags/${rag.id}`,
    `/rags/${rag.id}/documents`,
    `/rags/${rag.id}/documents/${document.id}`,
    `/rags/${rag.id}/search?query=x`,
  ])
    await viewer.api.get(path, { status: 200 });
  const refused = [
    await viewer.api.post("/rags", { name: "x", type: "documents" }),
    await viewer.api.put(`/rags/${rag.id}`, { name: "x" }),
    await viewer.api.del(`/rags/${rag.id}`),
    await viewer.api.post(`/rags/${rag.id}/test`),
    await viewer.api.post(`/rags/${rag.id}/documents`, { title: "x", text: "y" }),
    await viewer.api.post(`/rags/${rag.id}/documents/${document.id}/index`),
    await viewer.api.del(`/rags/${rag.id}/documents/${document.id}`),
    await upload(viewer.api, rag.id, { file: file("a.txt", "x") }),
  ];
  expect(refused.map(({ status }) => status)).toEqual(refused.map(() => 403));
  expect((await upload(editor.api, rag.id, { file: file("a.txt", "x") })).status).toBe(201);
  const own = await newSource(editor.api, { name: "Editor's" });
  await editor.api.put(`/rags/${own.id}`, { name: "Mine" }, { status: 200 });
  await editor.api.del(`/rags/${own.id}`, { status: 204 });
});

test("a source of another project answers like one that never existed", async ({ api, newProject }) => {
  const rag = await newSource(api);
  const { body: document } = await api.post(`/rags/${rag.id}/documents`, { title: "One", text: "Words." }, { schema: RagDocument });
  const stranger = (await newProject()).api;
  const own = await newSource(stranger, { name: "Own" });
  const missing = { detail: "There is no such RAG source in this project.", error_code: "NOT_FOUND", status: 404 };
  for (const id of [rag.id, "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", "no-uuid"]) {
    const answers = [
      await stranger.get(`/rags/${id}`),
      await stranger.put(`/rags/${id}`, { name: "x" }),
      await stranger.del(`/rags/${id}`),
      await stranger.post(`/rags/${id}/test`),
      await stranger.get(`/rags/${id}/search?query=words`),
      await stranger.get(`/rags/${id}/documents`),
      await stranger.post(`/rags/${id}/documents`, { title: "x", text: "y" }),
      await stranger.get(`/rags/${id}/documents/${document.id}`),
      await stranger.del(`/rags/${id}/documents/${document.id}`),
      await stranger.post(`/rags/${id}/documents/${document.id}/index`),
      await upload(stranger, id, { file: file("a.txt", "x") }),
    ];
    for (const { body } of answers) expect(body).toEqual(missing);
  }
  for (const id of [document.id, "no-uuid"])
    expect((await stranger.get(`/rags/${own.id}/documents/${id}`, { status: 404 })).body.detail).toBe(
      "There is no such document in this project.",
    );
});
