import { beforeEach, expect, test } from "vitest";
import { listAgents } from "#server/features/agents/service.ts";
import { ListAuditInput } from "#server/features/audit/schema.ts";
import { listAudit } from "#server/features/audit/service.ts";
import { createCredential, listCredentials } from "#server/features/credentials/service.ts";
import { addDocument, listDocuments } from "#server/features/knowledge/documents.ts";
import { ListRagDocumentsInput } from "#server/features/knowledge/schema.ts";
import { createRag, listRags } from "#server/features/knowledge/service.ts";
import { listMcpServers } from "#server/features/mcp/service.ts";
import { listMembers } from "#server/features/projects/members.ts";
import { rebuildSearchWords } from "#server/features/search/rebuild-words.ts";
import { SearchInput } from "#server/features/search/schema.ts";
import { search } from "#server/features/search/service.ts";
import { createSkill, listSkills } from "#server/features/skills/service.ts";
import { listWorkflows } from "#server/features/workflows/list.ts";
import { ListWorkflowsInput } from "#server/features/workflows/schema.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { ListInput } from "#server/shared/primitives-schema.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;

beforeEach(async () => {
  admin = await database.newAdmin();
});

const inputOf = (q: string) => ListInput.parse({ q });
const find = async (q: string, kinds = "workflow") => (await search(admin, SearchInput.parse({ q, kinds }))).items;
const namesOf = ({ items }: { items: readonly { name: string }[] }) => items.map(({ name }) => name);
const drawn = (text: string) => graphOf({ nodes: { t: ["triggerNode"], ask: ["outputNode", { value: text }] } as never, edges: ["t>ask"] });

test.each([
  ["cafe", "Café"],
  ["café", "Cafe"],
  ["CAFÉ", "cafe\u0301"],
  ["istanbul", "İstanbul"],
  ["entreprise", "L’entreprise"],
  ["l'entreprise", "L’entreprise"],
  ["Wasserwerk", "Wasser\u00adwerk"],
  ["strasse", "Straße"],
  ["Übersicht.pdf", "U\u0308bersicht.pdf"],
  ["οδος", "ΟΔΌΣ"],
  ["елка", "Ёлка"],
  ["환불", "환불은"],
  ["abc", "ａｂｃ"],
  ["میخواهم", "می\u200cخواهم"],
  ["[a].*", "x [a].* y"],
])("finds by %s the workflow %s", async (q, name) => {
  await createWorkflow(admin, { name });
  await createWorkflow(admin, { name: "Zzz" });

  expect(namesOf(await listWorkflows(admin, ListWorkflowsInput.parse({ q })))).toEqual([name]);
  expect((await find(q)).map(({ title }) => title)).toEqual([name]);
});

test.each([
  ["か", "がく"],
  ["краи", "край"],
  ["화", "환불"],
  ["a_c", "abc"],
])("does not find by %s the workflow %s", async (q, name) => {
  await createWorkflow(admin, { name });

  expect(namesOf(await listWorkflows(admin, ListWorkflowsInput.parse({ q })))).toEqual([]);
});

test("finds other lists with or without accents", async () => {
  const { id: rag_id } = await createRag(admin, { name: "Café", type: "documents", config: {} });
  await addDocument(admin, { rag_id, title: "Café.txt", text: "x" });
  await createCredential(admin, { name: "CAFÉ_KEY", value: "x" });
  await createSkill(admin, { name: "Café", description: "", prompt: "x", model: "" });

  expect(namesOf(await listRags(admin, inputOf("cafe")))).toEqual(["Café"]);
  expect((await listDocuments(admin, ListRagDocumentsInput.parse({ rag_id, q: "cafe" }))).total).toBe(1);
  expect(namesOf(await listCredentials(admin, inputOf("cafe")))).toEqual(["CAFÉ_KEY"]);
  expect(namesOf(await listSkills(admin, inputOf("cafe")))).toEqual(["Café"]);
  expect((await listAudit(admin, ListAuditInput.parse({ q: "cafe" }))).total).toBeGreaterThan(0);
  expect((await listAgents(admin, inputOf("cafe"))).total).toBe(0);
  expect((await listMcpServers(admin, inputOf("cafe"))).total).toBe(0);
});

test("finds people by their names with or without accents", async () => {
  await pool().query("UPDATE users SET name = 'Zoë Çelik' WHERE id = $1", [admin.user.id]);

  expect((await listMembers(admin, { project_id: admin.project.id, ...inputOf("zoe celik") })).total).toBe(1);
});

test("ranks names with the accents of the search first", async () => {
  await createWorkflow(admin, { name: "Cafe" });
  await createWorkflow(admin, { name: "Café" });

  expect((await find("café")).map(({ title }) => title)).toEqual(["Café", "Cafe"]);
  expect((await find("cafe")).map(({ title }) => title)).toEqual(["Cafe", "Café"]);
});

test("finds a workflow by folded words of its nodes", async () => {
  const { id } = await createWorkflow(admin, { name: "Mail", ...drawn("Écrire à L’entreprise sur le Wasser\u00adwerk, 환불은") });

  for (const q of ["entreprise", "ecrire", "wasserwerk", "환불"])
    expect(await find(q)).toMatchObject([{ id, path: `/workflows/${id}?node=ask` }]);
});

test("finds texts of the previous release by folded words once they are rebuilt", async () => {
  const { id } = await createWorkflow(admin, { name: "Mail", ...drawn("Écrire à mail.example.com") });
  const text = "mail\n\nask\nécrire à mail.example.com";
  await pool().query("UPDATE workflow_texts SET search = to_tsvector('simple', $2) WHERE workflow_id = $1", [id, text]);
  expect(await find("Écri")).toMatchObject([{ id }]);
  expect(await find("mail.exam")).toMatchObject([{ id }]);
  expect(await find("ecrire")).toEqual([]);

  await rebuildSearchWords();

  expect(await find("ecrire")).toMatchObject([{ id }]);
  expect(await find("mail.exam")).toMatchObject([{ id }]);
});

test("keeps one of two tags that differ in width or case", async () => {
  const { id } = await createWorkflow(admin, { name: "Tagged" });

  const { tags } = await updateWorkflow(admin, { workflow_id: id, tags: ["Mail", "ｍａｉｌ", "Café", "Cafe"] });

  expect(tags).toEqual(["Mail", "Café", "Cafe"]);
});
