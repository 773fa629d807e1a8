import pg from "pg";
import { beforeEach, expect, test } from "vitest";
import { addDocument } from "#server/features/knowledge/documents.ts";
import { storePieces } from "#server/features/knowledge/index-document.ts";
import { searchRag } from "#server/features/knowledge/search.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { rebuildSearchWords } from "#server/features/search/rebuild-words.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { settings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let rag_id: string;

beforeEach(async () => {
  admin = await database.newAdmin();
  ({ id: rag_id } = await createRag(admin, { name: "House", type: "documents", config: {} }));
});

async function add(title: string, text: string): Promise<string> {
  const { id } = await addDocument(admin, { rag_id, title, text });
  await storePieces({ document_id: id, generation: 1 });
  return id;
}

const titles = async (query: string) => (await searchRag(admin.project.id, [rag_id], query, 10)).map(({ title }) => title);

/** Writes the words of a document's chunks as the previous release does. */
const writeAsBefore = (document_id: string) =>
  pool().query(
    `UPDATE rag_chunks c
     SET search = to_tsvector(d.language::regconfig, lower(c.text)), folding = DEFAULT
     FROM rag_documents d
     WHERE d.id = c.document_id AND d.id = $1`,
    [document_id],
  );

const countOutdated = async (): Promise<number> => {
  const { rows } = await pool().query<{ count: number }>(
    "SELECT count(*)::int AS count FROM rag_chunks WHERE rag_source_id = $1 AND folding < 1",
    [rag_id],
  );
  return rows[0]?.count ?? -1;
};

test.each([
  ["entreprise", "L’entreprise ouvre à neuf heures du matin, et les bureaux ferment le soir."],
  ["deja", "Nous avons déjà payé la facture de la maison, et le garage est fermé."],
  ["Wasserwerk", "Das Wasser\u00adwerk liegt im Norden der Stadt, und die Leitung ist neu."],
  ["Strasse", "Die Straße ist gesperrt, und der Bus fährt eine andere Linie."],
  ["istanbul", "İstanbul şubesi pazartesi günü kapalı olacak."],
  ["ΟΔΟΣ", "Η οδός είναι κλειστή για δύο ημέρες."],
  ["елка", "Наша Ёлка стоит в холле до конца января."],
  ["환불", "환불은 칠 일 이내에 가능합니다."],
  ["サーバー", "ｻｰﾊﾞｰの障害は夜間に対応します。"],
  ["ภาษา", "เอกสารภาษาไทยอยู่ในตู้"],
  ["سلام", "ﺳﻼﻡ للجميع في المكتب"],
  ["हिन्दी", "यह हिन्\u200dदी भाषा में है"],
  ["میخواهم", "من می\u200cخواهم بروم"],
  ["quoted", "The word is “quoted” here."],
  ["Übersicht", "Die U\u0308bersicht der Kosten liegt bei, und alle Zahlen sind neu."],
])("finds %s in %s", async (query, text) => {
  await add("Found", text);
  await add("Other", "Nothing of the kind.");

  expect(await titles(query)).toEqual(["Found"]);
});

test("ranks a word with the accents of the question first", async () => {
  await add("With", "Résumé of the year.");
  await add("Without", "Resume of the year.");

  expect(await titles("résumé")).toEqual(["With", "Without"]);
  expect(await titles("resume")).toEqual(["Without", "With"]);
});

test("finds chunks of the previous release as before until they are rebuilt", async () => {
  await writeAsBefore(await add("Old", "The Wasser\u00adwerk and a “quoted” word beside naïve people."));

  expect(await titles("naïve")).toEqual(["Old"]);
  expect(await titles("wasserwerk naive")).toEqual([]);
});

test("finds chunks of the previous release by their folded words once they are rebuilt", async () => {
  await writeAsBefore(await add("Old", "The Wasser\u00adwerk and a “quoted” word beside naïve people."));

  expect(await rebuildSearchWords()).toBe(false);

  expect(await titles("wasserwerk")).toEqual(["Old"]);
  expect(await titles("naive")).toEqual(["Old"]);
  expect(await countOutdated()).toBe(0);
});

test("leaves chunks to another process until it is killed", async () => {
  const ids = [await add("One", "The naïve one."), await add("Two", "The naïve two.")];
  for (const id of ids) await writeAsBefore(id);
  const other = new pg.Client({ connectionString: settings().DATABASE_URL });
  await other.connect();
  await other.query("BEGIN");
  await other.query("UPDATE rag_chunks SET folding = 1 WHERE document_id = $1", [ids[0]]);

  await rebuildSearchWords();
  expect(await titles("naive")).toEqual(["Two"]);

  await other.end();
  await rebuildSearchWords();
  expect(await titles("naive")).toHaveLength(2);
});

test("rebuilds what the previous release writes later", async () => {
  await rebuildSearchWords();
  const document_id = await add("Document", "Something else.");
  await pool().query("DELETE FROM rag_chunks WHERE document_id = $1", [document_id]);
  await pool().query(
    `INSERT INTO rag_chunks (id, document_id, rag_source_id, position, text, search)
     VALUES (gen_random_uuid(), $1, $2, 0, 'naïve', to_tsvector('simple', 'naïve'))`,
    [document_id, rag_id],
  );

  await rebuildSearchWords();

  expect(await titles("naive")).toEqual(["Document"]);
});
