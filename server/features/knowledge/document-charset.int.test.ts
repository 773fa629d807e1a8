import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { addFile, getDocument, reindexDocument } from "#server/features/knowledge/documents.ts";
import type { Rag, RagDocument, RagDocumentDetail } from "#server/features/knowledge/schema.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import type { JobWorker } from "#server/jobs/postgres/worker.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { startTestJobs } from "#server/testing/jobs.ts";
import { pdfFile } from "#server/testing/office-files.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let worker: JobWorker;
let admin: ProjectPrincipal;
let rag: Rag;

beforeAll(async () => {
  worker = await startTestJobs();
});
afterAll(() => worker.stop(1000));
beforeEach(async () => {
  admin = await database.newAdmin();
  rag = await createRag(admin, { name: "Archive", type: "documents", config: {} });
});

const settled = ({ id }: RagDocument): Promise<RagDocumentDetail> =>
  until(async () => {
    const document = await getDocument(admin, { rag_id: rag.id, document_id: id });
    return document.status === "indexing" ? undefined : document;
  });

const add = async (name: string, bytes: Uint8Array): Promise<RagDocumentDetail> =>
  settled(await addFile(admin, rag.id, { name, type: "", bytes, title: undefined }));

/** "Привет" in IBM866: too short to be detected. */
const CYRILLIC_866 = Buffer.from("8fe0a8a2a5e2", "hex");

test("shows the detected charset of a text file", async () => {
  const document = await add("names.txt", Buffer.from("Цены;Яблоки;Бананы"));

  expect(document).toMatchObject({ status: "ready", charset: "utf-8", chosen_charset: null });
});

test("reads a text file by the charset that a user chose", async () => {
  const { id } = await add("greeting.txt", CYRILLIC_866);

  const document = await settled(await reindexDocument(admin, { rag_id: rag.id, document_id: id, charset: "ibm866" }));

  expect(document).toMatchObject({ status: "ready", charset: "ibm866", chosen_charset: "ibm866", text: "Привет" });
});

test("keeps a chosen charset when the document is indexed again", async () => {
  const ref = { rag_id: rag.id, document_id: (await add("greeting.txt", CYRILLIC_866)).id };
  await settled(await reindexDocument(admin, { ...ref, charset: "ibm866" }));

  const document = await settled(await reindexDocument(admin, ref));

  expect(document.text).toBe("Привет");
});

test("detects the charset again when the choice is withdrawn", async () => {
  const ref = { rag_id: rag.id, document_id: (await add("names.txt", Buffer.from("Größe"))).id };
  await settled(await reindexDocument(admin, { ...ref, charset: "windows-1252" }));

  const document = await settled(await reindexDocument(admin, { ...ref, charset: null }));

  expect(document).toMatchObject({ charset: "utf-8", chosen_charset: null, text: "Größe" });
});

test("refuses a charset for a PDF", async () => {
  const { id } = await add("page.pdf", pdfFile(["The boiler is in the cellar."]));

  await expect(reindexDocument(admin, { rag_id: rag.id, document_id: id, charset: "gbk" })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
    errors: [{ path: "charset" }],
  });
});
