import { file, newSource, type Part, settled, upload } from "#e2e/api/rag-forms.ts";
import { type KnowledgeServer, startKnowledgeServer } from "#e2e/fakes/knowledge-server.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { RagDocument, RagDocumentPage, RagSearchResult, RagTest } from "#server/features/knowledge/schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";
import { docxFile, pdfFile } from "#server/testing/office-files.ts";

let outside: KnowledgeServer;
test.beforeAll(async () => {
  outside = await startKnowledgeServer();
});
test.afterAll(() => outside.stop());

test("text, PDF and Word files become documents that are found with their place", async ({ api }) => {
  const rag = await newSource(api);
  const text = await api.post(
    `/rags/${rag.id}/documents`,
    { title: "Night", text: "# House\n\n## Quiet hours\n\nQuiet from ten." },
    { schema: RagDocument, status: 201 },
  );
  expect(text.body).toMatchObject({
    rag_id: rag.id,
    title: "Night",
    uri: null,
    media_type: "text/markdown",
    status: "indexing",
    progress: 0,
    error: null,
  });
  const pdf = await upload(api, rag.id, { file: file("boiler.pdf", pdfFile(["First page.", "The boiler stands in the cellar."])) });
  const docx = await upload(api, rag.id, {
    file: file("garden.docx", docxFile([{ heading: 1, text: "Roses" }, { text: "Cut them in March." }])),
    title: "Garden book",
  });
  expect([pdf.status, docx.status]).toEqual([201, 201]);
  for (const body of [text.body, pdf.body, docx.body])
    expect(await settled(api, RagDocument.parse(body))).toMatchObject({ status: "ready", error: null, progress: 1 });
  const first = async (query: string) =>
    (await api.get(`/rags/${rag.id}/search?query=${encodeURIComponent(query)}&limit=3`, { schema: RagSearchResult })).body.items[0];
  expect(await first("boiler in the cellar")).toMatchObject({ rag_id: rag.id, title: "boiler.pdf", place: "Page 2" });
  expect(await first("When are roses cut?")).toMatchObject({ title: "Garden book", place: "Roses", text: "Cut them in March." });
  expect(await first("quiet hours")).toMatchObject({ title: "Night", place: "House › Quiet hours" });
  const list = (await api.get(`/rags/${rag.id}/documents?per_page=2`, { schema: RagDocumentPage })).body;
  expect([list.total, list.items.map(({ title }) => title)]).toEqual([3, ["Garden book", "boiler.pdf"]]);
  expect((await api.get(`/rags/${rag.id}/documents?status=failed`)).body.total).toBe(0);
  const { ok, details } = (await api.post(`/rags/${rag.id}/test`, undefined, { schema: RagTest })).body;
  expect([ok, details]).toEqual([true, { documents: 3, ready: 3, indexing: 0, failed: 0, chunks: 4, dimensions: null }]);
  await api.del(`/rags/${rag.id}/documents/${text.body.id}`, { status: 204 });
  expect(await first("quiet hours")).toBeUndefined();
  await api.get(`/rags/${rag.id}/documents/${text.body.id}`, { status: 404 });
});

test("a page is fetched; a fault is told on the document, and indexing again is asked for", async ({ api }) => {
  const rag = await newSource(api);
  const add = (path: string) => api.post(`/rags/${rag.id}/documents`, { url: outside.url + path }, { schema: RagDocument, status: 201 });
  const { body: page } = await add("/pages/changing");
  expect(await settled(api, page)).toMatchObject({
    status: "ready",
    title: "Fruit",
    uri: `${outside.url}/pages/changing`,
    text: expect.stringContaining("apples"),
  });
  const { body: lost } = await add("/pages/nothing");
  expect(await settled(api, lost)).toMatchObject({ status: "failed", error: expect.stringContaining("404") });
  const { body: asked } = await api.post(`/rags/${rag.id}/documents/${lost.id}/index`, {}, { schema: RagDocument, status: 202 });
  expect(asked).toMatchObject({ status: "indexing", error: null });
  expect((await settled(api, lost)).status).toBe("failed");
});

test("what cannot be added is refused with the field", async ({ api }) => {
  const rag = await newSource(api);
  const path = `/rags/${rag.id}/documents`;
  for (const [body, field] of [
    [{}, "text"],
    [{ text: "x" }, "title"],
    [{ title: "x", text: " \n" }, "text"],
    [{ title: "x", text: "x", url: "https://example.com" }, "url"],
    [{ url: "file:///etc/passwd" }, "url"],
    [{ title: "x", text: "x", other: 1 }, "other"],
  ] as const)
    expect((await api.post(path, body, { status: 422 })).body.errors[0].path).toBe(field);
  for (const [form, field] of [
    [{ title: "x" }, "file"],
    [{ file: "no file" }, "file"],
    [{ file: file("a.png", Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0, 0])) }, "file"],
    [{ file: file("a.txt", "") }, "file"],
    [{ file: file("a.txt", "x"), other: "x" }, "other"],
    [{ file: file("a.txt", "x"), title: "" }, "title"],
  ] as const) {
    const { status, body } = await upload(api, rag.id, form as unknown as Record<string, Part | string>);
    expect([status, ErrorBody.parse(body).errors?.[0]?.path]).toEqual([422, field]);
  }
  const broken = await api.post(path, { title: "x" }, { headers: { "content-type": "multipart/form-data; boundary=none" } });
  expect([broken.status, broken.body.error_code]).toEqual([400, "BAD_REQUEST"]);
  expect((await api.get(path)).body.total).toBe(0);
  const large = await upload(api, rag.id, { file: file("large.txt", Buffer.alloc(4_300_000, "x")) });
  expect([large.status, ErrorBody.parse(large.body).detail]).toEqual([
    413,
    "The file is larger than 4 MiB. Split it up or add it by its address, or have the operator raise MAX_BODY_BYTES.",
  ]);
});

test("the same content again is 409, and a source that keeps its documents elsewhere takes none", async ({ api }) => {
  const rag = await newSource(api);
  await api.post(`/rags/${rag.id}/documents`, { title: "One", text: "The same words." }, { status: 201 });
  const again = await upload(api, rag.id, { file: file("two.txt", "The same words.") });
  expect([again.status, again.body]).toEqual([
    409,
    expect.objectContaining({ error_code: "CONFLICT", detail: expect.stringContaining('"One"') }),
  ]);
  const other = await newSource(api, { name: "Service", type: "http", config: { url: `${outside.url}/search` } });
  expect(other.documents).toBeNull();
  await api.post(`/rags/${other.id}/documents`, { title: "One", text: "Words." }, { status: 409 });
  expect((await api.get(`/rags/${other.id}/documents`, { schema: RagDocumentPage })).body.items).toEqual([]);
});

test("a repeated Idempotency-Key adds a file once", async ({ api }) => {
  const rag = await newSource(api);
  const send = (content: string) => upload(api, rag.id, { file: file("a.txt", content) }, { "idempotency-key": `key-${rag.id}` });
  const [first, second] = [await send("Words."), await send("Words.")];
  expect([first.status, second.status, second.body]).toEqual([201, 201, first.body]);
  expect((await send("Other words.")).status).toBe(409);
  expect((await api.get(`/rags/${rag.id}/documents`)).body.total).toBe(1);
});

test("the door of the web app takes no platform key", async ({ api }) => {
  const rag = await newSource(api);
  const answer = await fetch(`${process.env.BASE_URL}/api/v1/bridge/rags/${rag.id}/documents`, {
    method: "POST",
    headers: { authorization: `Bearer ${api.key}` },
  });
  expect(answer.status).toBe(403);
});
