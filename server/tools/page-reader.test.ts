import { expect, test } from "vitest";
import { docxFile } from "#server/testing/office-files.ts";
import { DOCX } from "#server/tools/knowledge/read-document.ts";
import { readDocumentApart } from "#server/tools/page-reader.ts";

test("a document that is made to take minutes holds nothing up: it is given up, and the next one is read", async () => {
  const bytes = Buffer.from(`<html><body>${"<div>".repeat(50_000)}deep`);
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
});

test("what is wrong with a document is said as it is", async () => {
  await expect(readDocumentApart({ bytes: Buffer.from("  "), mediaType: "text/plain" }, { owner: "project" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    message: "The document holds no text.",
  });
});
