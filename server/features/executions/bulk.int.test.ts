import pg from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import { getBulk, startBulk, stopBulk } from "#server/features/executions/bulk.ts";
import { resumeBulk, workOnBulk } from "#server/features/executions/bulk-work.ts";
import { BulkInput, MOST_RERUNS } from "#server/features/executions/schema.ts";
import { updateProject } from "#server/features/projects/service.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { startTestJobs } from "#server/testing/jobs.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeEach(async () => {
  admin = await database.newAdmin();
});
afterEach(() => vi.restoreAllMocks());

const position = { x: 0, y: 0 };
const graph = { nodes: [{ id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } }], edges: [] };

/** Executions that nobody carries, in this state. */
async function made(count: number, status: ExecutionStatus, who = admin): Promise<string[]> {
  const { id: workflow_id } = await createWorkflow(who, { name: crypto.randomUUID(), ...graph });
  const { rows } = await pool().query<{ id: string }>(
    `WITH made AS (
       INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, status, trigger, completed_at)
       SELECT gen_random_uuid(), project_id, id, 1, snapshot_id, $2::"ExecutionStatus", 'manual', CASE WHEN $2 = 'completed' THEN now() END
       FROM workflows, generate_series(1, $3::int) WHERE id = $1 RETURNING id)
     INSERT INTO execution_values (execution_id, input) SELECT id, 'x' FROM made RETURNING execution_id::text AS id`,
    [workflow_id, status, count],
  );
  return rows.map(({ id }) => id);
}

const start = (input: Record<string, unknown>, who = admin) => startBulk(who, BulkInput.parse(input));
async function done(id: string) {
  while (!(await workOnBulk(id)).isOver);
  return getBulk(admin, { bulk_id: id });
}
const statuses = async (ids: string[]) =>
  [...new Set((await db().execution.findMany({ where: { id: { in: ids } } })).map(({ status }) => status))].sort();

test("a run that another one has yet to hear of is not deleted: it would be started anew", async () => {
  const [[parent = ""], [child = "", other = ""]] = [await made(1, "running"), await made(2, "completed")];
  const wait = { execution_id: parent, project_id: admin.project.id, node_id: "w", label: "Call", reason: "child" as const };
  await db().wait.create({ data: { id: child, ...wait } });
  const { id } = await start({ action: "delete", ids: [child, other] });
  expect(await done(id)).toMatchObject({ succeeded: 1, skipped: 1 });
  expect(await statuses([child, other])).toEqual(["completed"]);
  await db().wait.update({ where: { id: child }, data: { status: "resolved" } });
  expect(await done((await start({ action: "delete", ids: [child] })).id)).toMatchObject({ succeeded: 1 });
});

test("runs are cancelled, run again and deleted by ids or by filter, by a job, and the audit has it once", async () => {
  const worker = await startTestJobs();
  try {
    const [waiting, ended, foreign] = [
      await made(3, "paused"),
      await made(2, "completed"),
      await made(1, "paused", await database.newAdmin()),
    ];
    const { id, count } = await start({ action: "cancel", ids: [...waiting, ...ended, ...foreign, "no-id"] });
    expect(count).toBe(5);
    await until(async () => (await getBulk(admin, { bulk_id: id })).completed_at);
    expect(await getBulk(admin, { bulk_id: id })).toMatchObject({
      action: "cancel",
      done: 5,
      succeeded: 3,
      skipped: 2,
      failed: 0,
      error: null,
    });
    expect([await statuses(waiting), await statuses(ended), await statuses(foreign)]).toEqual([["cancelled"], ["completed"], ["paused"]]);

    const again = await start({ action: "rerun", filter: { status: "completed" } });
    expect(again.count).toBe(2);
    await until(async () => (await getBulk(admin, { bulk_id: again.id })).completed_at);
    expect(await db().execution.count({ where: { rerun_of_id: { in: ended } } })).toBe(2);

    const gone = await start({ action: "delete", filter: { status: "cancelled,completed" } });
    await until(async () => (await getBulk(admin, { bulk_id: gone.id })).completed_at);
    expect(await getBulk(admin, { bulk_id: gone.id })).toMatchObject({ count: 5, succeeded: 5 });
    expect(await db().execution.count({ where: { id: { in: [...waiting, ...ended] } } })).toBe(0);

    const audit = await db().auditEntry.findMany({
      where: { project_id: admin.project.id, action: { contains: "bulk" } },
      orderBy: { id: "asc" },
    });
    expect(audit.map(({ action, detail }) => [action, detail])).toEqual([
      ["execution.bulk_cancel", { count: 5, ids: 7 }],
      ["execution.bulk_rerun", { count: 2, filter: { status: "completed" } }],
      ["execution.bulk_delete", { count: 5, filter: { status: "cancelled,completed" } }],
    ]);
    await expect(getBulk(await database.newAdmin(), { bulk_id: id })).rejects.toMatchObject({ code: "NOT_FOUND" });
  } finally {
    await worker.stop(5000);
  }
});

test("a process that dies in the middle leaves the rest to the next, and nothing is done twice, nor by two at once", async () => {
  const ids = await made(6, "completed");
  const { id } = await start({ action: "rerun", ids });
  // The fourth run is written and the process dies before it is noted: both are undone together.
  let notes = 0;
  const original = pg.Client.prototype.query;
  const spy = vi.spyOn(pg.Client.prototype, "query").mockImplementation(function (
    this: InstanceType<typeof pg.Client>,
    ...args: unknown[]
  ) {
    if (typeof args[0] === "string" && args[0].startsWith("UPDATE bulk_actions SET done") && ++notes === 4) throw new Error("killed");
    return Reflect.apply(original, this, args);
  } as never);
  await expect(workOnBulk(id)).rejects.toThrow("killed");
  spy.mockRestore();
  expect(await db().execution.count({ where: { rerun_of_id: { in: ids } } })).toBe(3);
  expect(await getBulk(admin, { bulk_id: id })).toMatchObject({ done: 3, completed_at: null });

  await Promise.all([workOnBulk(id), workOnBulk(id), workOnBulk(id)]);
  expect(await done(id)).toMatchObject({ done: 6, succeeded: 6, failed: 0 });
  const { rows } = await pool().query(
    "SELECT rerun_of_id, count(*)::int AS count FROM executions WHERE rerun_of_id = ANY($1::uuid[]) GROUP BY 1",
    [ids],
  );
  expect(rows.map(({ count }) => count)).toEqual([1, 1, 1, 1, 1, 1]);
});

test("what got lost is asked for again", async () => {
  const ids = await made(2, "paused");
  const { id } = await start({ action: "cancel", ids });
  await pool().query("SELECT treadle_worker.complete_jobs(ARRAY(SELECT id FROM treadle_worker.jobs))");
  await resumeBulk(Date.now() + 200_000);
  const worker = await startTestJobs();
  await until(async () => (await getBulk(admin, { bulk_id: id })).completed_at);
  await worker.stop(5000);
  expect(await statuses(ids)).toEqual(["cancelled"]);
});

test("reruns wait for room in the project's hour, and nobody's right outlives their role", async () => {
  const ids = await made(3, "completed");
  await pool().query("UPDATE executions SET is_counted = false WHERE id = ANY($1::uuid[])", [ids]);
  await updateProject(admin, { project_id: admin.project.id, executions_per_hour: 2 });
  const { id } = await start({ action: "rerun", ids });
  const { isOver, waitMs } = await workOnBulk(id);
  expect([isOver, waitMs > 0]).toEqual([false, true]);
  expect(await getBulk(admin, { bulk_id: id })).toMatchObject({ done: 2, succeeded: 2, completed_at: null });
  // Stopped, what was done stays done and nothing more is.
  const other = await start({ action: "rerun", ids });
  expect(await stopBulk(admin, { bulk_id: other.id })).toMatchObject({ count: 3, done: 0, failed: 0, completed_at: expect.any(String) });
  expect(await workOnBulk(other.id)).toEqual({ isOver: true, waitMs: 0 });
  expect(await stopBulk(admin, { bulk_id: other.id })).toEqual(await getBulk(admin, { bulk_id: other.id }));
  await db().membership.updateMany({ where: { user_id: admin.user.id }, data: { role: "viewer" } });
  expect(await done(id)).toMatchObject({ succeeded: 2, failed: 1, error: expect.stringContaining("may not do it any more") });
});

test("neither or both of ids and filter, too many, and nothing at all are told at once", async () => {
  await expect(start({ action: "cancel" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(start({ action: "cancel", ids: ["a"], filter: {} })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await made(MOST_RERUNS + 1, "completed");
  await expect(start({ action: "rerun", filter: {} })).rejects.toThrow("The filter matches 1,001 runs; 1,000 can be run again at once.");
  expect(await start({ action: "cancel", filter: { status: "paused" } })).toMatchObject({ count: 0 });
  expect(BulkInput.safeParse({ action: "cancel", filter: { state: "paused" } }).success).toBe(false);
});
