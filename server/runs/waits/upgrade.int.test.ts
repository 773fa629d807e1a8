import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { afterEach, expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { startWorker } from "#server/boot/worker.ts";
import { decideReview } from "#server/features/reviews/decide.ts";
import { decideByLink, reviewToken } from "#server/features/reviews/link.ts";
import { getReview, listReviews } from "#server/features/reviews/read.ts";
import { fireDueSchedules } from "#server/features/schedules/fire-due-schedules.ts";
import { installJobSchema } from "#server/jobs/postgres/install.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { closeDatabase, db, pool } from "#server/platform/db/client.ts";
import { migrate } from "#server/platform/db/migrate.ts";
import { closeNotifications } from "#server/platform/db/notify.ts";
import { migrationNames } from "#server/platform/db/schema-engine.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { graphOf } from "#server/testing/golden-play.ts";
import { collectEvents, inSeconds } from "#server/testing/reviews.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { createTestDatabase } from "#server/testing/test-database.ts";

/** The first migration that the version before did not have. */
const FIRST_NEW = "20261123";

/** Builds what the version before had, as Prisma notes it. */
async function migrateAsBefore(client: pg.Client): Promise<void> {
  await client.query(`CREATE TABLE _prisma_migrations (
    id varchar(36) PRIMARY KEY, checksum varchar(64) NOT NULL, finished_at timestamptz, migration_name varchar(255) NOT NULL, logs text,
    rolled_back_at timestamptz, started_at timestamptz NOT NULL DEFAULT now(), applied_steps_count integer NOT NULL DEFAULT 0)`);
  for (const name of (await migrationNames()).filter((name) => name < FIRST_NEW)) {
    const script = await readFile(join("prisma/migrations", name, "migration.sql"), "utf8");
    await client.query(script);
    await client.query(
      "INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, applied_steps_count) VALUES (gen_random_uuid(), $1, now(), $2, 1)",
      [createHash("sha256").update(script).digest("hex"), name],
    );
  }
}

/** Of the tables in which the version before queued runs, what is read. */
const OLD_QUEUE = `CREATE SCHEMA treadle_jobs;
  CREATE TABLE treadle_jobs.events (id text PRIMARY KEY, name text NOT NULL, payload text NOT NULL, routed boolean NOT NULL, delete_at bigint NOT NULL);
  CREATE TABLE treadle_jobs.runs (id text PRIMARY KEY, fn_id text NOT NULL, event text NOT NULL, status text NOT NULL, due_at bigint, owner int,
    blocked_on text, created_at bigint NOT NULL, ended_at bigint)`;

const idOf = (kind: number, n: number) => `00000000-0000-7000-8000-${kind}${String(n).padStart(11, "0")}`;
const [PROJECT, USER, REVIEWED, PLAIN] = [idOf(1, 1), idOf(1, 2), idOf(1, 3), idOf(1, 4)];
const RUNS = 100;
const REVIEWS = 10;
const executionOf = (run: number) => idOf(2, run);
const reviewOf = (run: number, node: number) => idOf(3, run * 100 + node);

const reviewIds = Array.from({ length: REVIEWS }, (_, n) => `r${n}`);
const reviewed = graphOf({
  nodes: {
    t: ["triggerNode"],
    ...Object.fromEntries(reviewIds.map((id) => [id, ["humanLoopNode"]])),
    z: ["outputNode", { value: "done" }],
  },
  edges: reviewIds.flatMap((id) => [`t>${id}`, `${id}.approved>z`]),
});
const plain = graphOf({ nodes: { t: ["triggerNode"], z: ["outputNode"] }, edges: ["t>z"] });

/**
 * Runs that are accepted and queued, but not begun: one that was asked for just now, one that waits for its turn, and one that
 * was asked for again, whose next look the version before had put off for ten minutes.
 */
const QUEUED = [
  { status: "pending", dispatch: 0, overdueIn: 10 },
  { status: "queued", dispatch: 0, overdueIn: 50 },
  { status: "pending", dispatch: 2, overdueIn: 600 },
].map((fields, index) => ({ id: executionOf(RUNS + 2 + index), ...fields }));

/** Ten reviews of each paused run, two runs whose process has died, and a schedule that is due; in the tables of the version before. */
async function fillAsBefore(client: pg.Client, runs = RUNS): Promise<void> {
  await client.query(`INSERT INTO users (id, email, name) VALUES ('${USER}', 'ada@example.com', 'Ada')`);
  await client.query(`INSERT INTO projects (id, name, slug, owner_id) VALUES ('${PROJECT}', 'P', 'p', '${USER}')`);
  await client.query(`INSERT INTO memberships (project_id, user_id, role) VALUES ('${PROJECT}', '${USER}', 'admin')`);
  for (const [id, graph] of [[REVIEWED, reviewed] as const, [PLAIN, plain] as const]) {
    await client.query(
      "INSERT INTO workflows (id, project_id, name, snapshot_id, trigger, updated_at) VALUES ($1, $2, 'W', $1, 'manual', now())",
      [id, PROJECT],
    );
    await client.query("INSERT INTO workflow_snapshots (id, workflow_id, hash, graph) VALUES ($1, $1, 'h', $2)", [
      id,
      JSON.stringify(graph),
    ]);
  }
  const execution = async (id: string, workflow: string, status: string) => {
    await client.query(
      `INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, status, trigger, started_by_id, started_at, lease_owner,
         lease_epoch, lease_until, overdue_at)
       VALUES ($1, $2, $3, 1, $3, $4::text::"ExecutionStatus", 'manual', $5, now(), 'gone-1', 1, $6, $7)`,
      [id, PROJECT, workflow, status, USER, status === "running" ? inSeconds(-60) : null, inSeconds(status === "running" ? -30 : 3600)],
    );
    await client.query("INSERT INTO execution_values (execution_id, input) VALUES ($1, 'x')", [id]);
    await client.query(
      `WITH run AS (
         INSERT INTO node_runs (id, execution_id, node_id, attempt, status, started_at, completed_at, duration_ms)
         VALUES (gen_random_uuid(), $1, 't', 1, 'complete', now(), now(), 0) RETURNING id
       ) INSERT INTO node_run_values (node_run_id, output) SELECT id, 'x' FROM run`,
      [id],
    );
  };
  for (let run = 0; run < runs; run++) {
    await execution(executionOf(run), REVIEWED, "paused");
    await client.query(
      `WITH review AS (SELECT id, 'r' || position - 1 AS node_id FROM unnest($2::uuid[]) WITH ORDINALITY AS review(id, position)
       ), run AS (
         INSERT INTO node_runs (id, execution_id, node_id, attempt, status, started_at)
         SELECT gen_random_uuid(), $1, node_id, 1, 'waiting', now() FROM review
       ) INSERT INTO reviews (id, project_id, execution_id, node_id, label, title, display_value, notified_at)
         SELECT id, $3, $1, node_id, node_id, 'Good?', 'Text', now() FROM review`,
      [executionOf(run), reviewIds.map((_, node) => reviewOf(run, node)), PROJECT],
    );
  }
  for (const run of [RUNS, RUNS + 1]) await execution(executionOf(run), PLAIN, "running");
  await client.query(
    "INSERT INTO schedules (workflow_id, cron_expression, next_fire_at) VALUES ($1, '0 0 1 1 *', now() - interval '1 hour')",
    [PLAIN],
  );
  // Decided, by a person, the clock and a link, and not taken by the run; and one whose time is over and that nobody has rejected.
  const decided = `decided_at = now() - interval '1 minute', reviewer_email = 'ada@example.com', reviewer_name = 'Ada', reviewer_role = 'admin'`;
  await client.query(`UPDATE reviews SET status = 'approved', comment = 'fine', via = 'ui', reviewer_id = $2, ${decided} WHERE id = $1`, [
    reviewOf(0, 0),
    USER,
  ]);
  await client.query(
    "UPDATE reviews SET status = 'rejected', via = 'timeout', due_at = now() - interval '1 hour', decided_at = now() WHERE id = $1",
    [reviewOf(1, 0)],
  );
  await client.query("UPDATE reviews SET due_at = now() - interval '1 hour' WHERE id = $1", [reviewOf(2, 0)]);
  await client.query("UPDATE reviews SET due_at = now() + interval '1 hour', notification_email = 'pat@example.com' WHERE id = $1", [
    reviewOf(3, 0),
  ]);
  await client.query(
    "INSERT INTO notifications (id, user_id, project_id, kind, subject_id, title, link) VALUES (gen_random_uuid(), $1, $2, 'review', $3, 'x', '/x')",
    [USER, PROJECT, reviewOf(3, 0)],
  );
}

/** Migrates what the version before had. @returns who may decide its reviews */
async function upgrade(fill: (client: pg.Client) => Promise<void>): Promise<ProjectPrincipal> {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  drops.push(drop);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await migrateAsBefore(client);
  await fill(client);
  await client.end();
  expect((await migrate(url))[0]).toMatch(`${FIRST_NEW}`);
  setSettings({ DATABASE_URL: url, AUTH_SECRET: "auth secret of the tests, of 32 and more", EXECUTIONS_PER_HOUR: "0" });
  await closeDatabase();
  const user = await db().user.findUniqueOrThrow({ where: { id: USER }, select: { id: true, email: true, name: true } });
  const project = await db().project.findUniqueOrThrow({ where: { id: PROJECT } });
  return { user, project, role: "admin", auth: { type: "session" } } as unknown as ProjectPrincipal; // cast: what deciding and reading ask for
}

const drops: (() => Promise<void>)[] = [];
afterEach(async () => {
  await closeNotifications();
  await closeDatabase();
  for (const drop of drops.splice(0)) await drop();
});

test("an install of the version before goes on: its open reviews are decided, its runs end, its schedule fires", {
  timeout: 120_000,
}, async () => {
  const ada = await upgrade(fillAsBefore);
  const { user } = ada;
  const sent = collectEvents();

  const waiting = { status: "waiting", page: 1, per_page: 1 } as const;
  expect(await listReviews(ada, waiting)).toMatchObject({ total: RUNS * REVIEWS - 2 });
  expect(await getReview(ada, { review_id: reviewOf(0, 0) })).toMatchObject({
    status: "approved",
    comment: "fine",
    via: "ui",
    role: "admin",
    reviewer: user,
  });
  expect(await getReview(ada, { review_id: reviewOf(1, 0) })).toMatchObject({
    status: "rejected",
    comment: null,
    via: "timeout",
    reviewer: null,
  });
  expect(await getReview(ada, { review_id: reviewOf(3, 0) })).toMatchObject({ status: "waiting", due_at: expect.any(String) });

  // What nobody has taken, and what has died, is asked for; the one that is due is rejected.
  await sweep(waitSweep, reviewSweep, executionSweep);
  const asked = new Set(sent.map(({ data }) => data.execution_id));
  for (const run of [0, 2, RUNS, RUNS + 1]) expect(asked).toContain(executionOf(run));
  expect(await getReview(ada, { review_id: reviewOf(2, 0) })).toMatchObject({ status: "rejected", via: "timeout" });
  expect(await fireDueSchedules()).toBe(1);

  const link = await decideByLink({ token: reviewToken(reviewOf(3, 0), inSeconds(60)), decision: "approved", comment: "by link" });
  expect(link).toMatchObject({ status: "approved", via: "email", reviewer: { email: "pat@example.com" } });
  expect(await db().notification.count({ where: { subject_id: reviewOf(3, 0), read_at: null } })).toBe(0);
  const decide = async (run: number) => {
    for (const node of reviewIds.keys()) if (node > 0 || run > 3) await decideReview(reviewOf(run, node), ada, { decision: "approved" });
  };
  const runs = Array.from({ length: RUNS }, (_, run) => run);
  for (let from = 0; from < RUNS; from += 10) await Promise.all(runs.slice(from, from + 10).map(decide));
  expect(await listReviews(ada, waiting)).toMatchObject({ total: 0 });

  const open = await db().execution.findMany({ where: { completed_at: null }, select: { id: true } });
  expect(open).toHaveLength(RUNS + 3);
  for (const { id } of open) expect(await claimAndExecute(storedServices(), id, 60)).toMatchObject({ kind: "over" });
  const ended = await db().execution.groupBy({ by: ["status"], _count: true, orderBy: { status: "asc" } });
  expect(ended.map(({ status, _count }) => [status, _count])).toEqual([
    ["completed", RUNS + 1],
    ["rejected", 2],
  ]);
  const first = await getExecution(ada, { execution_id: executionOf(0) });
  expect(first.node_results.r0).toMatchObject({ status: "complete", output: "approved: fine" });
  expect(first.reviews[0]).toMatchObject({ node_id: "r0", decision: "approved", comment: "fine", reviewer: user });
});

test("what the version before had accepted and queued, and what had died under it, is carried by the worker after the upgrade", {
  timeout: 60_000,
}, async () => {
  setSettings({ INNGEST_BASE_URL: "" });
  const [PAUSED, DEAD] = [4, [RUNS, RUNS + 1].map(executionOf)];
  const ada = await upgrade(async (client) => {
    await fillAsBefore(client, PAUSED);
    await client.query(OLD_QUEUE);
    for (const { id, status, dispatch, overdueIn } of QUEUED) {
      await client.query(
        `INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, status, trigger, started_by_id, dispatch, overdue_at)
         VALUES ($1, $2, $3, 1, $3, $4::text::"ExecutionStatus", 'manual', $5, $6, $7)`,
        [id, PROJECT, PLAIN, status, USER, dispatch, inSeconds(overdueIn)],
      );
      await client.query("INSERT INTO execution_values (execution_id, input) VALUES ($1, 'x')", [id]);
      const event = JSON.stringify({ id: `${id}-${dispatch}`, name: "execution/requested", data: { execution_id: id, dispatch }, ts: 1 });
      await client.query(
        "INSERT INTO treadle_jobs.runs (id, fn_id, event, status, created_at, due_at) VALUES ($1, 'treadle-run-workflow', $2, 'running', 0, 5)",
        [id, event],
      );
    }
  });
  await installJobSchema(settings().DATABASE_URL ?? "");
  const stopWorker = await startWorker();
  const statuses = async (ids: string[]) =>
    (await db().execution.findMany({ where: { id: { in: ids } }, select: { status: true } })).map(({ status }) => status);
  const begun = [...QUEUED.map(({ id }) => id), ...DEAD];
  await until(async () => (await statuses(begun)).every((status) => status === "completed"));

  // People decide what waits, but for what the clock or a person had decided.
  const isOpen = { status: "waiting" as const, reason: "review" as const };
  await until(async () => (await db().wait.count({ where: isOpen })) === PAUSED * REVIEWS - 3);
  for (const { id } of await db().wait.findMany({ where: isOpen })) await decideReview(id, ada, { decision: "approved" });
  const paused = Array.from({ length: PAUSED }, (_, run) => executionOf(run));
  await until(async () => (await statuses(paused)).every((status) => status === "completed" || status === "rejected"));
  await until(async () => (await db().execution.count({ where: { completed_at: null } })) === 0); // what the schedule has fired, too
  await stopWorker(2000);

  // Each once: two processes had died under what was begun, and nothing else was begun anew.
  const attempts = await db().nodeRun.groupBy({ by: ["execution_id", "node_id"], where: { execution_id: { in: begun } }, _count: true });
  expect(attempts.map(({ _count }) => _count)).toEqual(Array(begun.length * 2).fill(1));
  expect(await db().execution.count()).toBe(PAUSED + begun.length + 1);
  const { rows } = await pool().query("SELECT to_regnamespace('treadle_jobs') AS schema");
  expect(rows).toEqual([{ schema: null }]);
});
