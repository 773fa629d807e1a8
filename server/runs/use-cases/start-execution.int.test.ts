import { afterEach, expect, test } from "vitest";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { createExecution, type NewExecution } from "#server/runs/store/create.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ EXECUTIONS_PER_HOUR: "100" }));

async function newRun(admin: ProjectPrincipal): Promise<NewExecution> {
  const { id } = await createWorkflow(admin, { name: "Limited" });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id } });
  const ids = { project_id: admin.project.id, workflow_id: id, snapshot_id, started_by_id: admin.user.id };
  return { ...ids, workflow_version: 1, trigger: "manual", input: "go", params: null };
}

const kinds = async (starts: Promise<{ kind: string }>[]) => (await Promise.all(starts)).map(({ kind }) => kind).sort();

test("together, requests of one project never get past its limit; another project is not held up", async () => {
  setSettings({ EXECUTIONS_PER_HOUR: "5" });
  const [mine, other] = await Promise.all([newRun(await database.newAdmin()), newRun(await database.newAdmin())]);
  const starts = Array.from({ length: 20 }, () => createExecution(mine));
  expect(await kinds([...starts, createExecution(other)])).toEqual([...Array(15).fill("limited"), ...Array(6).fill("started")]);
  expect(await db().execution.count({ where: { project_id: mine.project_id } })).toBe(5);
  expect(await createExecution(mine)).toEqual({ kind: "limited", limit: 5, retryAfter: expect.closeTo(3600, -2) });
});

test("an execution older than an hour, or refused before it began, does not count", async () => {
  setSettings({ EXECUTIONS_PER_HOUR: "1" });
  const run = await newRun(await database.newAdmin());
  const started = await createExecution(run);
  expect(await createExecution(run)).toMatchObject({ kind: "limited" });
  const where = { id: started.kind === "started" ? started.execution_id : "" };
  await db().execution.update({ where, data: { status: "failed" } });
  expect(await createExecution(run)).toMatchObject({ kind: "started" });
  await db().execution.update({ where, data: { status: "completed", created_at: new Date(Date.now() - 3_601_000) } });
  expect(await createExecution(run)).toMatchObject({ kind: "limited" });
  await db().execution.updateMany({ where: { project_id: run.project_id }, data: { created_at: new Date(Date.now() - 3_601_000) } });
  expect(await createExecution(run)).toMatchObject({ kind: "started" });
});

test("a limit of 0 is none, and input is kept whole", async () => {
  setSettings({ EXECUTIONS_PER_HOUR: "0" });
  const run = await newRun(await database.newAdmin());
  const input = `${"long ".repeat(1000)}\u0000end`;
  expect(await kinds(Array.from({ length: 10 }, () => createExecution({ ...run, input, params: { a: 1 } })))).toEqual(
    Array(10).fill("started"),
  );
  const row = await db().execution.findFirstOrThrow({ where: { project_id: run.project_id }, include: { values: true } });
  expect(row).toMatchObject({
    status: "pending",
    input_preview: input.slice(0, 2000),
    values: { input: input.replace("\u0000", ""), params: { a: 1 } },
  });
});

test("a workflow runs once for a due time", async () => {
  const run = await newRun(await database.newAdmin());
  const due_at = new Date("2026-11-21T09:00:00Z");
  expect(await kinds(Array.from({ length: 8 }, () => createExecution({ ...run, trigger: "schedule", due_at })))).toEqual([
    ...Array(7).fill("repeated"),
    "started",
  ]);
});
