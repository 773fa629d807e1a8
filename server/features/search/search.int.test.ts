import { beforeAll, expect, test } from "vitest";
import { createCredential, listCredentials } from "#server/features/credentials/service.ts";
import { SearchInput } from "#server/features/search/schema.ts";
import { search } from "#server/features/search/service.ts";
import { createWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { ListInput } from "#server/shared/primitives-schema.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let stranger: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  stranger = await database.newAdmin();
});

const find = async (query: object, who = admin) => (await search(who, SearchInput.parse(query))).items;
const drawn = (text: string) =>
  graphOf({
    nodes: { t: ["triggerNode"], ask: ["setNode", { label: "Ask the oracle", fields: [{ name: "a", value: text }] }] } as never,
    edges: ["t>ask"],
  });

/** One of everything that has rows, all called the same. */
async function everything({ project: { id: project_id }, ...who }: ProjectPrincipal, name: string) {
  const principal = { project: { id: project_id, slug: "", name: "" }, ...who };
  const { id: workflow_id } = await createWorkflow(principal, { name });
  await db().llmKey.create({ data: { project_id, name, provider: "openai", sealed_key: "", masked_key: "" } });
  const key = await db().llmKey.findFirstOrThrow({ where: { project_id } });
  await db().agent.create({ data: { project_id, name, model: "echo", llm_key_id: key.id } });
  await db().canvas.create({ data: { project_id, name } });
  const source = await db().ragSource.create({ data: { project_id, name, type: "documents" } });
  await db().ragDocument.create({ data: { rag_source_id: source.id, title: `${name}.pdf` } });
  await db().skill.create({ data: { project_id, name, prompt: "" } });
  await db().mcpServer.create({ data: { project_id, name, url: "https://mcp.example.com" } });
  await createCredential(principal, { name: name.toUpperCase(), value: "the value is never searched" });
  return { workflow_id, run_id: await endedRun(principal, workflow_id, {}) };
}

test("everything of the project is found by its name, and nothing of another's", async () => {
  const mine = await everything(admin, "zeppelin");
  const other = await everything(stranger, "zeppelin");
  const found = await find({ q: "zeppel" });
  const ids = found.map(({ id }) => id);
  expect(found.map(({ kind }) => kind)).toEqual([
    ...["workflow", "agent", "canvas", "knowledge", "document", "skill", "mcp_server", "credential", "llm_key"],
  ]);
  expect(ids).toContain(mine.workflow_id);
  expect((await find({ q: "zeppel" }, stranger)).filter(({ id }) => ids.includes(id))).toEqual([]);
  expect(await find({ q: "never searched", kinds: "credential" })).toEqual([]);

  const asked = `see http://localhost:3000/runs/${mine.run_id}`;
  for (const q of [mine.run_id, mine.run_id.slice(0, 20), asked])
    expect(await find({ q, kinds: "run" })).toMatchObject([{ kind: "run", id: mine.run_id, path: `/runs/${mine.run_id}` }]);
  expect(await find({ q: other.run_id, kinds: "run" })).toEqual([]);
  expect(await find({ q: "00000000-0000-0000-0000-0000000000000000", kinds: "run" })).toEqual([]);
});

test("a workflow is found by what stands in its saved nodes, with the node; its name counts for more", async () => {
  const { id } = await createWorkflow(admin, { name: "Weather", ...drawn("How high is the BAROMETER in Köln, at 100%?") });
  const [named] = [await createWorkflow(admin, { name: "Barometer" })];
  expect(await find({ q: "barometer", kinds: "workflow" })).toMatchObject([
    { id: named.id, detail: null },
    { id, detail: expect.stringContaining("Ask the oracle · "), path: `/workflows/${id}?node=ask` },
  ]);
  expect(await find({ q: "weather KÖLN 100%", kinds: "workflow" })).toMatchObject([{ id }]);
  for (const q of ["'", "\\", "barometer ' | !weather", "%", "&"]) await expect(find({ q })).resolves.toBeDefined();
  expect(await find({ q: "the oracle", kinds: "workflow" })).toMatchObject([{ id, detail: "Node Ask the oracle" }]);
  await updateWorkflow(admin, { workflow_id: id, ...drawn("Something else") });
  expect(await find({ q: "köln", kinds: "workflow" })).toEqual([]);
});

test("the guide and built-in skills are found while one types, in the number that was asked for", async () => {
  expect((await find({ q: "webho", kinds: "guide" }))[0]?.path).toMatch(/^\/docs\//);
  // Of a table its words, not the line under its heading.
  expect((await find({ q: "dify here", kinds: "guide" })).map(({ detail }) => detail)).not.toContainEqual(expect.stringContaining("---"));
  expect(await find({ q: "summar", kinds: "skill", limit: 1 })).toMatchObject([{ kind: "skill" }]);
  expect(SearchInput.safeParse({ q: "x", kinds: "workflow,nothing" }).success).toBe(false);
  expect(SearchInput.safeParse({ q: " " }).success).toBe(false);
});

test("lists are searched on the server, and say how many there are", async () => {
  for (const name of ["HUB_TOKEN", "HUBXTOKEN"]) await createCredential(admin, { name, value: "x" });
  const found = await listCredentials(admin, ListInput.parse({ q: "hub_t" }));
  expect([found.total, found.items.map(({ name }) => name)]).toEqual([1, ["HUB_TOKEN"]]);
});
