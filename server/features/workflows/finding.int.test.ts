import { beforeAll, expect, test } from "vitest";
import { bulkWorkflows, moveFolder } from "#server/features/workflows/bulk.ts";
import { listWorkflows, workflowFacets } from "#server/features/workflows/list.ts";
import { BulkWorkflowsInput, CreateWorkflowInput, Folder, ListWorkflowsInput } from "#server/features/workflows/schema.ts";
import { createWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { endedRun } from "#server/testing/ended-run.ts";
import { newWorkflow } from "#server/testing/new-workflow.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  const stranger = await database.newAdmin();
  await createWorkflow(stranger, { name: "Daily digest of others", tags: ["news"], folder: "Marketing" });
});

const make = async (name: string, more: object = {}) => (await createWorkflow(admin, { name, ...more })).id;
const list = async (query: object, who = admin) => listWorkflows(who, ListWorkflowsInput.parse(query));
const names = async (query: object) => (await list(query)).items.map(({ name }) => name);
const bulk = (input: object) => bulkWorkflows(admin, BulkWorkflowsInput.parse(input));

test("the list finds by words, tags, folder and switch, sorts, and counts what it found", async () => {
  const digest = await make("Daily digest", {
    description: "Sums up the news",
    tags: ["News", "news", "daily"],
    folder: "Marketing/Weekly",
  });
  await make("100% Übersicht", { tags: ["news"], folder: "Marketing", enabled: false });
  const apple = await make("apple", { folder: "Marketing 2" });
  expect((await getWorkflow(admin, { workflow_id: digest })).tags).toEqual(["News", "daily"]);
  expect(await names({ q: "NEWS digest" })).toEqual(["Daily digest"]);
  // What LIKE reads as a wildcard is itself, and letters beyond A to Z have two cases as well.
  for (const [q, found] of [
    ["0% ü", ["100% Übersicht"]],
    ["%", ["100% Übersicht"]],
    ["_", []],
    ["\\", []],
    ["weekly daily", ["Daily digest"]],
    ["others", []],
  ] as const)
    expect([q, await names({ q })]).toEqual([q, found]);
  expect(await names({ folder: "Marketing" })).toEqual(["100% Übersicht", "Daily digest"]);
  expect(await names({ folder: "Marketing/Weekly" })).toEqual(["Daily digest"]);
  expect(await names({ folder: "Market_ng" })).toEqual([]);
  expect(await names({ tag: "News,daily" })).toEqual(["Daily digest"]);
  expect(await names({ tag: "news", enabled: false })).toEqual(["100% Übersicht"]);
  expect(await names({ sort: "name" })).toEqual(["100% Übersicht", "apple", "Daily digest"]);
  expect(await names({ sort: "created" })).toEqual(["Daily digest", "100% Übersicht", "apple"]);

  await endedRun(admin, apple, {}, { at: new Date("2026-01-01T00:00:00Z") });
  const last = await endedRun(admin, digest, {}, { at: new Date("2026-01-02T00:00:00Z"), status: "failed" });
  const page = await list({ sort: "-last_run", per_page: 1 });
  expect(page).toMatchObject({ total: 3, per_page: 1, items: [{ name: "Daily digest", last_run: { id: last, status: "failed" } }] });
  expect(await names({ sort: "last_run" })).toEqual(["apple", "Daily digest", "100% Übersicht"]);
  expect((await list({ q: "Übersicht" })).items[0]?.last_run).toBeNull();
  expect(await workflowFacets(admin)).toEqual({
    folders: [
      { folder: "Marketing", count: 1 },
      { folder: "Marketing 2", count: 1 },
      { folder: "Marketing/Weekly", count: 1 },
    ],
    tags: [
      { tag: "daily", count: 1 },
      { tag: "News", count: 1 },
      { tag: "news", count: 1 },
    ],
    unfiled: 0,
    total: 3,
  });
});

test("tags and folders have bounds, and to change them makes no version and refuses nobody's save", async () => {
  for (const folder of ["/a", "a/", "a//b", " /a", "a/ b", "", "a\nb", "a/b/c/d/e/f/g/h/i", "x".repeat(201)])
    expect([folder, Folder.safeParse(folder).success]).toEqual([folder, false]);
  for (const folder of ["a", "a b/c", "Ä/1/2/3/4/5/6/7"]) expect(Folder.safeParse(folder).success).toBe(true);
  const input = (tags: string[]) => CreateWorkflowInput.safeParse({ name: "x", tags }).success;
  expect([input(["a,b"]), input([" "]), input(["x".repeat(41)]), input(Array.from({ length: 21 }, (_, n) => `t${n}`))]).toEqual([
    ...[false, false, false, false],
  ]);
  const workflow_id = await make("Filed");
  const before = await getWorkflow(admin, { workflow_id });
  const after = await updateWorkflow(admin, { workflow_id, folder: "Later", tags: ["a"], version: 1 });
  expect(after).toMatchObject({ version: 1, folder: "Later", tags: ["a"], updated_at: before.updated_at });
  expect(await updateWorkflow(admin, { workflow_id, name: "Filed 2", version: 1 })).toMatchObject({ version: 2, folder: "Later" });
});

test("many are changed at once: what cannot be is told with the reason, and stays", async () => {
  const child = await newWorkflow(admin, { t: ["triggerNode"], o: ["outputNode"] }, ["t>o"], { name: "Child" });
  const parent = await newWorkflow(
    admin,
    { t: ["triggerNode"], w: ["workflowNode", { workflow_id: child }], o: ["outputNode"] },
    ["t>w", "w>o"],
    { name: "Parent" },
  );
  const foreign = (await list({}, await database.newAdmin())).total;
  expect(foreign).toBe(0);
  const stranger = await createWorkflow(await database.newAdmin(), { name: "Not yours" });

  const gone = { id: stranger.id, name: null, message: expect.stringContaining("no such workflow") };
  expect(await bulk({ action: "tag", ids: [child, parent, stranger.id, "no-uuid"], tags: ["x", "y"] })).toMatchObject({
    count: 2,
    failed: [gone, { id: "no-uuid", name: null }],
  });
  expect(await bulk({ action: "untag", filter: { tag: "x" }, tags: ["X"] })).toEqual({ count: 2, failed: [] });
  expect(await bulk({ action: "move", ids: [child], folder: "Parts" })).toEqual({ count: 1, failed: [] });
  expect(await bulk({ action: "disable", filter: { tag: "y" } })).toEqual({ count: 2, failed: [] });
  expect(await getWorkflow(admin, { workflow_id: child })).toMatchObject({ enabled: false, tags: ["y"], folder: "Parts", version: 2 });
  expect(await bulk({ action: "disable", ids: [child] })).toEqual({ count: 1, failed: [] });
  expect(await getWorkflow(admin, { workflow_id: child })).toMatchObject({ version: 2 });

  expect(await bulk({ action: "delete", ids: [child] })).toEqual({
    count: 0,
    failed: [{ id: child, name: "Child", message: 'The workflow is run by the workflow "Parent". Take it out there first.' }],
  });
  // Both at once: the one that stood in the way goes too.
  expect(await bulk({ action: "delete", ids: [child, parent] })).toEqual({ count: 2, failed: [] });
  expect(await db().workflowText.count({ where: { workflow_id: { in: [child, parent] } } })).toBe(0);
  const audit = await db().auditEntry.findMany({ where: { resource_id: child }, orderBy: { id: "asc" }, select: { action: true } });
  expect(audit.map(({ action }) => action.split(".")[1])).toEqual(["create", "update", "update", "update", "update", "delete"]);

  for (const wrong of [
    { action: "delete" },
    { action: "delete", ids: [child], filter: {} },
    { action: "move", ids: [child] },
    { action: "tag", ids: [child] },
  ])
    await expect(bulk(wrong)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a folder is renamed or moved with all that is in it", async () => {
  const who = await database.newAdmin();
  const each = ["A", "A/B", "A/B/C", "AB", "A_"].map((folder) => createWorkflow(who, { name: folder, folder }));
  await Promise.all(each);
  const folders = async () => (await workflowFacets(who)).folders.map(({ folder }) => folder);
  expect(await moveFolder(who, { folder: "A", to: "Ü 1/Z" })).toEqual({ count: 3 });
  expect(await folders()).toEqual(["A_", "AB", "Ü 1/Z", "Ü 1/Z/B", "Ü 1/Z/B/C"]);
  expect(await moveFolder(who, { folder: "Ü 1/Z", to: null })).toEqual({ count: 3 });
  expect(await folders()).toEqual(["A_", "AB", "B", "B/C"]);
  expect((await workflowFacets(who)).unfiled).toBe(1);
  await expect(moveFolder(who, { folder: "B", to: "B/D" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(moveFolder(who, { folder: "B", to: "1/2/3/4/5/6/7/8" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(moveFolder(admin, { folder: "B", to: "D" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});
