import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { tidyExecutions } from "#server/features/executions/tidy-executions.ts";
import { tidyNotifications } from "#server/features/notifications/service.ts";
import { deleteProject } from "#server/features/projects/delete.ts";
import { updateProject } from "#server/features/projects/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, inTransaction, pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { BATCH, deleteExecutions } from "#server/runs/store/delete-executions.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

const DAY = 86_400_000;
const ago = (days: number) => new Date(Date.now() - days * DAY);

async function workflowOf(admin: ProjectPrincipal) {
  const { id } = await createWorkflow(admin, { name: randomUUID() });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id } });
  return { workflow_id: id, snapshot_id, project_id: admin.project.id, trigger: "manual" };
}

/** Executions with a row in every table that hangs on them. */
async function executions(admin: ProjectPrincipal, rows: { status: ExecutionStatus; created: Date; ended?: Date }[]): Promise<string[]> {
  const common = await workflowOf(admin);
  const made = rows.map(({ status, created, ended }) => ({
    ...common,
    id: randomUUID(),
    status,
    created_at: created,
    completed_at: ended ?? null,
    last_seq: 1,
  }));
  await db().execution.createMany({ data: made });
  const ids = made.map(({ id }) => id);
  const nodes = ids.map((execution_id) => ({ id: randomUUID(), execution_id, node_id: "a", status: "complete" as const }));
  await db().executionValues.createMany({ data: ids.map((execution_id) => ({ execution_id, input: "x" })) });
  await db().nodeRun.createMany({ data: nodes });
  await db().nodeRunValues.createMany({ data: nodes.map(({ id }) => ({ node_run_id: id, output: "y" })) });
  await db().executionEvent.createMany({ data: ids.map((execution_id) => ({ execution_id, seq: 1, type: "node_start", data: {} })) });
  return ids;
}

const left = async (ids: string[]) =>
  (await db().execution.findMany({ where: { id: { in: ids } }, select: { id: true } })).map(({ id }) => ids.indexOf(id)).sort();

/** Rows that belong to an execution which is gone. */
async function orphans(): Promise<number> {
  const [row] = await db().$queryRaw<{ count: number }[]>`
    SELECT ((SELECT count(*) FROM execution_values v WHERE NOT EXISTS (SELECT FROM executions e WHERE e.id = v.execution_id))
      + (SELECT count(*) FROM node_runs r WHERE NOT EXISTS (SELECT FROM executions e WHERE e.id = r.execution_id))
      + (SELECT count(*) FROM node_run_values v WHERE NOT EXISTS (SELECT FROM node_runs r WHERE r.id = v.node_run_id))
      + (SELECT count(*) FROM execution_events v WHERE NOT EXISTS (SELECT FROM executions e WHERE e.id = v.execution_id)))::int AS count`;
  return row?.count ?? -1;
}

test("executions go when they ended longer ago than the project keeps them, and nothing else does", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  await updateProject(admin, { project_id: admin.project.id, retention_days: 30 });
  const rows = [
    { status: "completed", created: ago(40), ended: ago(40) },
    { status: "failed", created: ago(31), ended: ago(31) },
    { status: "completed", created: ago(29), ended: ago(29) },
    { status: "paused", created: ago(400) },
    { status: "running", created: ago(400) },
    { status: "queued", created: ago(400) },
    // Waited for a person for two months and has just ended.
    { status: "rejected", created: ago(60), ended: ago(1) },
  ] as const;
  const [mine, others] = [await executions(admin, [...rows]), await executions(other, [...rows])];
  expect(await tidyExecutions()).toBe(false);
  expect(await left(mine)).toEqual([2, 3, 4, 5, 6]);
  expect(await left(others)).toHaveLength(rows.length);
  expect(await orphans()).toBe(0);

  // The clock moves on.
  await tidyExecutions({ now: Date.now() + DAY / 2 });
  expect(await left(mine)).toEqual([2, 3, 4, 5, 6]);
  await tidyExecutions({ now: Date.now() + 2 * DAY });
  expect(await left(mine)).toEqual([3, 4, 5, 6]);
  await tidyExecutions({ now: Date.now() + 30 * DAY });
  expect(await left(mine)).toEqual([3, 4, 5]);
  await updateProject(admin, { project_id: admin.project.id, retention_days: null });
  await tidyExecutions({ now: Date.now() + 3650 * DAY });
  expect(await left(mine)).toEqual([3, 4, 5]);
});

test("what hangs on a run goes with it when its workflow or its project goes", async () => {
  const [admin, other] = [await database.newAdmin(), await database.newAdmin()];
  const rows = Array.from({ length: 3 }, () => ({ status: "completed" as const, created: ago(1), ended: ago(1) }));
  const [first = ""] = await executions(admin, rows);
  await executions(admin, rows);
  const kept = await executions(other, rows);
  const { workflow_id } = await db().execution.findUniqueOrThrow({ where: { id: first } });
  await db().workflow.delete({ where: { id: workflow_id } });
  expect(await orphans()).toBe(0);
  await db().project.delete({ where: { id: admin.project.id } });
  expect(await orphans()).toBe(0);
  expect(await db().executionEvent.count({ where: { execution_id: { in: kept } } })).toBe(rows.length);
});

test("what is written of a run while its deletion waits for that goes too", async () => {
  const admin = await database.newAdmin();
  const [id = ""] = await executions(admin, [{ status: "completed", created: ago(3), ended: ago(3) }]);
  let deleted: Promise<unknown> = Promise.resolve();
  await inTransaction(async (writer) => {
    await writer.query("SELECT FROM executions WHERE id = $1 FOR UPDATE", [id]);
    deleted = asOtherCaller(() => deleteExecutions(admin.project.id, ago(2), () => true));
    const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'";
    await expect.poll(async () => (await asOtherCaller(() => pool().query(waits))).rowCount).toBe(1);
    await writer.query("INSERT INTO execution_events (execution_id, seq, type, data) VALUES ($1, 2, 'node_delta', '{}')", [id]);
  });
  await expect(deleted).resolves.toEqual({ deleted: 1, isDone: true });
  expect(await orphans()).toBe(0);
});

test("a rerun outlives what it repeats", async () => {
  const admin = await database.newAdmin();
  await updateProject(admin, { project_id: admin.project.id, retention_days: 7 });
  const [original = "", rerun = ""] = await executions(admin, [
    { status: "failed", created: ago(8), ended: ago(8) },
    { status: "completed", created: ago(6), ended: ago(6) },
  ]);
  await db().execution.update({ where: { id: rerun }, data: { rerun_of_id: original } });
  await tidyExecutions();
  expect(await db().execution.findUnique({ where: { id: original } })).toBeNull();
  expect(await db().execution.findUnique({ where: { id: rerun } })).toMatchObject({ rerun_of_id: null, status: "completed" });
});

test("executions go in batches; a turn ends when its time is up, and the next one goes on", async () => {
  const admin = await database.newAdmin();
  await updateProject(admin, { project_id: admin.project.id, retention_days: 1 });
  const count = BATCH * 2 + 100;
  const ids = await executions(
    admin,
    Array.from({ length: count }, () => ({ status: "completed" as const, created: ago(3), ended: ago(3) })),
  );
  expect(await tidyExecutions({ turnMs: 0 })).toBe(true);
  expect(await left(ids)).toHaveLength(count);
  let batches = 0;
  const once = () => batches++ === 0;
  expect(await deleteExecutions(admin.project.id, ago(2), once)).toEqual({ deleted: BATCH, isDone: false });
  expect(await left(ids)).toHaveLength(count - BATCH);
  expect(await tidyExecutions()).toBe(false);
  expect(await left(ids)).toEqual([]);
  expect(await orphans()).toBe(0);
});

test("what a deletion of a project could not remove in its time is removed by the next turn", async () => {
  const admin = await database.newAdmin();
  const ids = await executions(
    admin,
    Array.from({ length: 30 }, () => ({ status: "running" as const, created: ago(1) })),
  );
  await deleteProject(admin, { project_id: admin.project.id });
  // As if the process had died after the first transaction.
  const again = await database.newAdmin();
  const more = await executions(again, [{ status: "paused", created: ago(1) }]);
  await db().project.update({ where: { id: again.project.id }, data: { deleted_at: new Date(), owner_id: null } });
  expect(await tidyExecutions({ turnMs: 0 })).toBe(true);
  expect(await tidyExecutions()).toBe(false);
  expect(await left([...ids, ...more])).toEqual([]);
  expect(await db().project.count({ where: { id: { in: [admin.project.id, again.project.id] } } })).toBe(0);
});

test("old notifications and long expired invitations go", async () => {
  const admin = await database.newAdmin();
  const { id: project_id } = admin.project;
  const common = { user_id: admin.user.id, project_id, kind: "review", title: "t", link: "/" };
  await db().notification.createMany({
    data: [
      { ...common, title: "read long ago", created_at: ago(40), read_at: ago(31) },
      { ...common, title: "read lately", created_at: ago(40), read_at: ago(2) },
      { ...common, title: "never read", created_at: ago(91) },
      { ...common, title: "new", created_at: ago(1) },
    ],
  });
  for (const [email, days] of [
    ["old@example.com", 31],
    ["late@example.com", 2],
  ] as const) {
    await setMember(admin, { project_id, email, role: "viewer" });
    await db().invitation.updateMany({ where: { project_id, email }, data: { expires_at: ago(days) } });
  }
  await tidyNotifications();
  const titles = await db().notification.findMany({ where: { project_id }, select: { title: true }, orderBy: { id: "asc" } });
  expect(titles.map(({ title }) => title).sort()).toEqual(["new", "read lately"]);
  expect((await db().invitation.findMany({ where: { project_id } })).map(({ email }) => email)).toEqual(["late@example.com"]);
});
