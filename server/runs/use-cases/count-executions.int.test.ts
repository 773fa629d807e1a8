import { beforeAll, describe, expect, test } from "vitest";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { type ExecutionStatus, ExecutionStatus as Statuses } from "#server/runs/status-schema.ts";
import { countOlderExecutions, PIECE } from "#server/runs/store/count-older-executions.ts";
import { deleteExecutions } from "#server/runs/store/delete-executions.ts";
import { listExecutions } from "#server/runs/use-cases/list-executions.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();

type Filter = { workflow_id?: string; status?: ExecutionStatus };

async function newWorkflows(admin: ProjectPrincipal, names: string[]): Promise<string[]> {
  // What the planner knows is of before what comes now, as it is when thousands run within a minute.
  for (const table of ["executions", "execution_open", "execution_counts", "workflows"]) await pool().query(`ANALYZE ${table}`);
  const ids: string[] = [];
  for (const name of names) ids.push((await createWorkflow(admin, { name })).id);
  return ids;
}

/** Executions one a second, the newest `age` seconds old; workflows and states in turn. */
async function insert(admin: ProjectPrincipal, workflows: string[], count: number, { age = 60, each = 1 } = {}): Promise<void> {
  await pool().query(
    `INSERT INTO executions (id, project_id, workflow_id, snapshot_id, status, trigger, created_at, completed_at)
     SELECT gen_random_uuid(), $1::uuid, w.id, w.snapshot_id, state::"ExecutionStatus", 'manual', at, CASE WHEN state IN ('running', 'paused') THEN NULL ELSE at END
     FROM generate_series(1, $3::int) AS n
     CROSS JOIN LATERAL (SELECT date_trunc('second', now()) - make_interval(secs => $4::float8 + $5::float8 * ($3::int - n)) AS at,
       (ARRAY['completed','completed','failed','cancelled','rejected','running','completed','paused'])[1 + n % 8] AS state) AS made
     JOIN workflows w ON w.id = ($2::uuid[])[1 + n % cardinality($2::uuid[])]`,
    [admin.project.id, workflows, count, age, each],
  );
}

const total = async (admin: ProjectPrincipal, filter: Filter = {}) =>
  (await listExecutions(admin, { page: 1, per_page: 1, ...filter })).total;

/** What every filter gives, and what counting would. */
async function expectTruth(admin: ProjectPrincipal, workflows: string[]): Promise<void> {
  const { rows } = await pool().query<Required<Filter> & { count: number }>(
    "SELECT workflow_id, status, count(*)::int AS count FROM executions WHERE project_id = $1 GROUP BY workflow_id, status",
    [admin.project.id],
  );
  for (const workflow_id of [undefined, ...workflows])
    for (const status of [undefined, ...Statuses.options]) {
      const filter = { ...(workflow_id && { workflow_id }), ...(status && { status }) };
      const meant = rows.filter((row) => (!workflow_id || row.workflow_id === workflow_id) && (!status || row.status === status));
      expect([filter, await total(admin, filter)]).toEqual([filter, meant.reduce((sum, { count }) => sum + count, 0)]);
    }
}

const pieces = async (admin: ProjectPrincipal) =>
  (await db().executionCount.findMany({ where: { project_id: admin.project.id }, distinct: ["since"], select: { since: true } })).length;

test("a total is exact before and after the past was counted, and while runs end, begin and go", async () => {
  const admin = await database.newAdmin();
  const other = await database.newAdmin();
  const workflows = await newWorkflows(admin, ["A", "B", "C"]);
  await insert(other, await newWorkflows(other, ["Other"]), 50);
  await insert(admin, workflows, 3 * PIECE + 100);
  await expectTruth(admin, workflows);
  await countOlderExecutions(admin.project.id);
  expect(await pieces(admin)).toBe(3);
  await expectTruth(admin, workflows);

  // Of those that had not ended, some end; others begin.
  await pool().query(`UPDATE executions SET status = 'failed' WHERE project_id = $1 AND status = 'paused' AND id::text < '8'`, [
    admin.project.id,
  ]);
  await expectTruth(admin, workflows);
  await insert(admin, workflows, 20, { age: 1, each: 0 });
  await expectTruth(admin, workflows);
  await countOlderExecutions(admin.project.id);
  await expectTruth(admin, workflows);

  // The oldest go: whole pieces, and part of one.
  const before = new Date(Date.now() - 60_000 - 1000 * (PIECE + 700));
  await deleteExecutions(admin.project.id, before, () => true);
  expect(await db().execution.count({ where: { project_id: admin.project.id, created_at: { lt: before }, status: "completed" } })).toBe(0);
  await expectTruth(admin, workflows);
  await deleteExecutions(admin.project.id, new Date(Date.now() + 1000), () => true);
  await expectTruth(admin, workflows);
  expect(await total(other)).toBe(50);
});

describe("pages over counted pieces", () => {
  let admin: ProjectPrincipal;
  let workflows: string[];
  beforeAll(async () => {
    admin = await database.newAdmin();
    workflows = await newWorkflows(admin, ["A", "B"]);
    // Many at the same time, so that a piece has to end between two times.
    await insert(admin, workflows, 2 * PIECE + 2500, { each: 0.004 });
    await countOlderExecutions(admin.project.id);
    expect(await pieces(admin)).toBeGreaterThan(1);
  });

  test.each([
    {},
    { status: "completed" as const },
    { status: "paused" as const },
    { workflow: 0 },
    { workflow: 1, status: "failed" as const },
  ])("hold every execution once, newest first: %o", async ({ workflow, ...filter }: { workflow?: number; status?: ExecutionStatus }) => {
    const where = { ...filter, ...(workflow !== undefined && { workflow_id: workflows[workflow] ?? "" }) };
    const rows = await db().execution.findMany({
      where: { project_id: admin.project.id, ...where },
      orderBy: [{ created_at: "desc" }, { id: "desc" }],
      select: { id: true },
    });
    const last = Math.ceil(rows.length / 200);
    for (const page of [1, 2, 11, Math.ceil(last / 2), last - 1, last, last + 1].filter((number) => number > 0)) {
      const found = await listExecutions(admin, { page, per_page: 200, ...where });
      expect(found.items.map(({ id }) => id)).toEqual(rows.slice((page - 1) * 200, page * 200).map(({ id }) => id));
      expect(found.total).toBe(rows.length);
    }
  });
});

test("thousands that were created in one millisecond are one piece", async () => {
  const admin = await database.newAdmin();
  const workflows = await newWorkflows(admin, ["A"]);
  await insert(admin, workflows, 2 * PIECE, { each: 0 });
  await insert(admin, workflows, 10, { age: 30 });
  expect(await countOlderExecutions(admin.project.id)).toBe(1);
  await expectTruth(admin, workflows);
});

test("the last seconds, where a transaction under way may still write, are not counted past", async () => {
  const admin = await database.newAdmin();
  const workflows = await newWorkflows(admin, ["A"]);
  await insert(admin, workflows, PIECE + 10, { age: 1, each: 0.0001 });
  expect(await countOlderExecutions(admin.project.id)).toBe(0);
  await expectTruth(admin, workflows);
});

test("a list that finds much of the past uncounted has it counted afterwards", async () => {
  const admin = await database.newAdmin();
  const workflows = await newWorkflows(admin, ["A"]);
  await insert(admin, workflows, 3 * PIECE);
  expect(await total(admin)).toBe(3 * PIECE);
  // The same work, already under way.
  await countOlderExecutions(admin.project.id);
  expect(await pieces(admin)).toBe(2);
  expect(await total(admin)).toBe(3 * PIECE);
});

test("counting, ending, deleting and listing at once give totals that were true", async () => {
  const admin = await database.newAdmin();
  const workflows = await newWorkflows(admin, ["A", "B"]);
  await insert(admin, workflows, 4 * PIECE);
  const { id: project_id } = admin.project;
  const seen: number[] = [];
  let isOver = false;
  const reading = (async () => {
    while (!isOver) seen.push(await total(admin, { status: "failed" }));
  })();
  await Promise.all([
    countOlderExecutions(project_id),
    pool().query(`UPDATE executions SET status = 'failed' WHERE project_id = $1 AND status = 'running'`, [project_id]),
  ]);
  await countOlderExecutions(project_id);
  isOver = true;
  await reading;
  // An eighth had failed; then the eighth that ran did too. Nothing in between exists, and nothing beyond.
  expect(new Set(seen)).toEqual(new Set(seen.filter((count) => count === (4 * PIECE) / 8 || count === PIECE)));
  await expectTruth(admin, workflows);
});
