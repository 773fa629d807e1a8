import { expect, test } from "vitest";
import { addDocument } from "#server/features/knowledge/documents.ts";
import { storePieces } from "#server/features/knowledge/index-document.ts";
import { searchRag } from "#server/features/knowledge/search.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { db } from "#server/platform/db/client.ts";
import { handbook, questions } from "#server/testing/knowledge-corpus.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

test("by words alone, nine answers in ten are among the first five pieces, in six languages", async () => {
  const admin = await database.newAdmin();
  const { id: rag_id } = await createRag(admin, { name: "Handbook", type: "documents", config: {} });
  for (const [title, text] of Object.entries(handbook)) {
    const { id } = await addDocument(admin, { rag_id, title, text });
    await storePieces({ document_id: id, generation: 1 });
  }
  expect(await db().ragDocument.count({ where: { rag_source_id: rag_id, status: "ready" } })).toBe(Object.keys(handbook).length);
  const missed: string[] = [];
  let first = 0;
  for (const [question, title] of questions) {
    const titles = (await searchRag(admin.project.id, [rag_id], question, 5)).map((hit) => hit.title);
    if (titles[0] === title) first += 1;
    if (!titles.includes(title)) missed.push(`${question} → ${title}`);
  }
  const recall = 1 - missed.length / questions.length;
  expect(recall, `not among the first five: ${missed.join(", ")}`).toBeGreaterThanOrEqual(0.9);
  expect(first / questions.length).toBeGreaterThanOrEqual(0.75);
});
