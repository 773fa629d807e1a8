import { setTimeout as pause } from "node:timers/promises";
import { expect, test } from "vitest";
import { DOCX } from "#server/platform/documents/read-document.ts";
import { readContent, readDocumentApart } from "#server/platform/documents/reader.ts";
import { deepPage, docxBomb, docxTreeBomb, pdfBomb } from "#server/testing/bombs.ts";
import { docxFile } from "#server/testing/office-files.ts";

test("a document that is made to take minutes holds nothing up: it is given up, and the next one is read", async () => {
  const bytes = deepPage(50_000);
  await expect(readDocumentApart({ bytes, mediaType: "text/html" }, { owner: "project", timeoutMs: 1500 })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: expect.stringContaining("The document is built so that reading it takes too long"),
  });
  const file = docxFile([{ heading: 1, text: "Garden" }, { text: "The roses are cut in March, and the hedge is not." }]);
  await expect(readDocumentApart({ bytes: file, mediaType: DOCX }, { owner: "project" })).resolves.toMatchObject({
    text: "Garden\n\nThe roses are cut in March, and the hedge is not.",
    language: "english",
    chunks: [{ place: "Garden" }],
  });
}, 60_000);

test("while documents of several projects take long, a page is read", async () => {
  const abort = new AbortController();
  const document = { bytes: deepPage(50_000), mediaType: "text/html" };
  const slow = ["one", "two", "three"].map((owner) => readDocumentApart(document, { owner, signal: abort.signal }));
  const bytes = Buffer.from("<title>Garden</title><p>The roses are cut in March, and the hedge is not.");
  const page = { url: "https://example.com/garden", bytes, contentType: "text/html", isCut: false };
  await expect(readContent(page, { owner: "four" })).resolves.toMatchObject({ markdown: expect.stringContaining("The roses") });
  abort.abort(new Error("enough"));
  for (const { status, reason } of (await Promise.allSettled(slow)) as PromiseRejectedResult[])
    expect([status, reason.message]).toEqual(["rejected", "enough"]);
}, 60_000);

test("what is wrong with a document is said as it is", async () => {
  await expect(readDocumentApart({ bytes: Buffer.from("  "), mediaType: "text/plain" }, { owner: "project" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: "The document holds no text.",
  });
});

test.each([
  ["a PDF of some kilobytes that unpacks to 400 MB", "application/pdf", () => pdfBomb(400), "takes more memory than there is for it"],
  ["a Word file that unpacks to 300 MB", DOCX, async () => docxBomb(300), "unpacks to more than 100 MiB"],
  ["a Word file whose paragraphs fill the memory", DOCX, async () => docxTreeBomb(600_000), "takes more memory than there is for it"],
])(
  "%s is refused, and this process takes none of it",
  async (_, mediaType, make, words) => {
    const bytes = await make();
    expect(bytes.byteLength).toBeLessThan(400_000);
    const before = process.memoryUsage.rss();
    let most = 0;
    let isOver = false;
    const reading = readDocumentApart({ bytes, mediaType }, { owner: "project" }).finally(() => (isOver = true));
    const watching = (async () => {
      for (; !isOver; await pause(10)) most = Math.max(most, process.memoryUsage.rss());
    })();
    await expect(reading).rejects.toMatchObject({ code: "VALIDATION_ERROR", message: expect.stringContaining(words) });
    await watching;
    expect((most - before) / 1024 / 1024).toBeLessThan(150);
  },
  60_000,
);
