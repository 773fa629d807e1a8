import { createHash } from "node:crypto";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import pg from "pg";
import { expect, test } from "vitest";
import { decideReview } from "#server/features/reviews/decide.ts";
import { decideByLink, reviewToken } from "#server/features/reviews/link.ts";
import { getReview, listReviews } from "#server/features/reviews/read.ts";
import { fireDueSchedules } from "#server/features/schedules/fire-due-schedules.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { closeDatabase, db } from "#server/platform/db/client.ts";
import { migrate } from "#server/platform/db/migrate.ts";
import { closeNotifications } from "#server/platform/db/notify.ts";
import { migrationNames } from "#server/platform/db/schema-engine.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { sweepExecutions } from "#server/runs/use-cases/sweep-executions.ts";
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

/** 1,000 reviews of 100 paused runs, two runs whose process has died, and a schedule that is due; in the tables of the version before. */
async function fillAsBefore(client: pg.Client): Promise<void> {
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
  for (let run = 0; run < RUNS; run++) {
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

test("an install of the version before goes on: its open reviews are decided, its runs end, its schedule fires", {
  timeout: 120_000,
}, async () => {
  const { url, drop } = await createTestDatabase({ isMigrated: false });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await migrateAsBefore(client);
  await fillAsBefore(client);
  await client.end();
  expect((await migrate(url))[0]).toMatch(`${FIRST_NEW}`);

  setSettings({ DATABASE_URL: url, AUTH_SECRET: "auth secret of the tests, of 32 and more", EXECUTIONS_PER_HOUR: "0" });
  const user = await db().user.findUniqueOrThrow({ where: { id: USER }, select: { id: true, email: true, name: true } });
  const project = await db().project.findUniqueOrThrow({ where: { id: PROJECT } });
  const ada = { user, project, role: "admin", auth: { type: "session" } } as unknown as ProjectPrincipal; // cast: what deciding and reading ask for
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
  await sweepExecutions();
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
  for (const { id } of open) expect(await claimAndExecute(storedServices(), id, 60)).toEqual({ kind: "over" });
  const ended = await db().execution.groupBy({ by: ["status"], _count: true, orderBy: { status: "asc" } });
  expect(ended.map(({ status, _count }) => [status, _count])).toEqual([
    ["completed", RUNS + 1],
    ["rejected", 2],
  ]);
  const first = await getExecution(ada, { execution_id: executionOf(0) });
  expect(first.node_results.r0).toMatchObject({ status: "complete", output: "approved: fine" });
  expect(first.reviews[0]).toMatchObject({ node_id: "r0", decision: "approved", comment: "fine", reviewer: user });

  await closeNotifications();
  await closeDatabase();
  await drop();
});
