import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { DOCX } from "#server/platform/documents/read-document.ts";
import { readContent, readDocumentApart } from "#server/platform/documents/reader.ts";
import { deepPage, docxBomb, docxTreeBomb, pdfBomb } from "#server/testing/bombs.ts";
import { docxFile, pdfWithCmap } from "#server/testing/office-files.ts";

test("while documents of several projects take long a page is read; one that is given up says so, and the next one is read", async () => {
  const abort = new AbortController();
  const document = { bytes: deepPage(50_000), mediaType: "text/html" };
  const givenUp = readDocumentApart(document, { owner: "one", timeoutMs: 300 });
  const slow = ["two", "three"].map((owner) => readDocumentApart(document, { owner, signal: abort.signal }));
  const ends = Promise.allSettled([givenUp, ...slow]);
  const bytes = Buffer.from("<title>Garden</title><p>The roses are cut in March, and the hedge is not.");
  const page = { url: "https://example.com/garden", bytes, contentType: "text/html", isCut: false };
  await expect(readContent(page, { owner: "four" })).resolves.toMatchObject({ markdown: expect.stringContaining("The roses") });
  await expect(givenUp).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining("The document is built so that reading it takes too long"),
  });
  abort.abort(new Error("enough"));
  const [, ...aborted] = (await ends) as PromiseRejectedResult[];
  for (const { status, reason } of aborted) expect([status, reason.message]).toEqual(["rejected", "enough"]);
  const file = docxFile([{ heading: 1, text: "Garden" }, { text: "The roses are cut in March, and the hedge is not." }]);
  await expect(readDocumentApart({ bytes: file, mediaType: DOCX }, { owner: "project" })).resolves.toMatchObject({
    text: "Garden\n\nThe roses are cut in March, and the hedge is not.",
    language: "english",
    chunks: [{ place: "Garden" }],
  });
}, 60_000);

test("the reading process finds the predefined CMaps", async () => {
  const bytes = pdfWithCmap("90ms-RKSJ-H", "Japan1", Uint8Array.from([0x93, 0xfa, 0x96, 0x7b]));

  await expect(readDocumentApart({ bytes, mediaType: "application/pdf" }, { owner: "project" })).resolves.toMatchObject({
    chunks: [{ place: "Page 1", text: "日本" }],
  });
});

test("the reading process detects the encoding of a text", async () => {
  const bytes = Buffer.from("d6e5edfb0adfe1ebeeeae83b33300ac1e0ede0edfb3b35300a", "hex");

  await expect(readDocumentApart({ bytes, mediaType: "text/csv" }, { owner: "project" })).resolves.toMatchObject({
    text: "Цены\nЯблоки;30\nБананы;50",
    language: "russian",
  });
});

test("what is wrong with a document is said as it is", async () => {
  await expect(readDocumentApart({ bytes: Buffer.from("  "), mediaType: "text/plain" }, { owner: "project" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: "The document holds no text.",
  });
});

test("a page that is made to take minutes is given up, and the next one is read", async () => {
  const page = { url: "https://example.com/", bytes: deepPage(50_000), contentType: "text/html", isCut: false };
  await expect(readContent(page, { owner: "project", timeoutMs: 300 })).rejects.toMatchObject({
    message: expect.stringContaining("The page is built so that reading it takes too long"),
  });
  const texts = ["one", "two", "three", "four"];
  const pages = await Promise.all(texts.map((text) => readContent({ ...page, bytes: Buffer.from(`<p>${text}`) }, { owner: "project" })));
  expect(pages.map(({ markdown }) => markdown)).toEqual(texts);
});

/** What is read takes the same ways, as a page and as a document: each way is tried with one of the files made against it. */
const asDocument = (mediaType: string) => (bytes: Uint8Array) => readDocumentApart({ bytes, mediaType }, { owner: "project" });
const asPage = (contentType: string) => (bytes: Uint8Array) =>
  readContent({ url: "https://example.com/file", bytes, contentType, isCut: false }, { owner: "project" });

test.each([
  ["a PDF of some kilobytes that unpacks to 400 MB", asPage("application/pdf"), () => pdfBomb(400), "Reading the page takes more memory"],
  ["a Word file that unpacks to 300 MB", asDocument(DOCX), async () => docxBomb(300), "unpacks to more than 100 MiB"],
  [
    "a Word file whose paragraphs fill the memory",
    asDocument(DOCX),
    async () => docxTreeBomb(600_000),
    "Reading the document takes more memory",
  ],
])(
  "%s is refused, and this process takes none of it",
  async (_, read, make, words) => {
    const bytes = await make();
    expect(bytes.byteLength).toBeLessThan(400_000);
    const before = process.memoryUsage.rss();
    let most = 0;
    let isOver = false;
    const reading = read(bytes).finally(() => (isOver = true));
    const watching = (async () => {
      for (; !isOver; await pause(10)) most = Math.max(most, process.memoryUsage.rss());
    })();
    await expect(reading).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining(words) });
    await watching;
    expect((most - before) / 1024 / 1024).toBeLessThan(150);
  },
  60_000,
);
