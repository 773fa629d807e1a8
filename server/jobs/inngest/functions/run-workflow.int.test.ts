// biome-ignore-all lint/style/noExcessiveLinesPerFile: one set of clocks, executor and helpers, and every way in which a decision can come
import { serve } from "inngest/edge";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import { approveExecution, decideReview } from "#server/features/reviews/decide.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { inngest } from "#server/jobs/inngest/client.ts";
import { engineServices } from "#server/jobs/inngest/engine-services.ts";
import { inngestFunctions } from "#server/jobs/inngest/functions/index.ts";
import { type LocalExecutor, startLocalExecutor } from "#server/jobs/inngest/local/executor.ts";
import { until as soon } from "#server/jobs/inngest/local/testing/harness.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { sweepExecutions } from "#server/runs/use-cases/sweep-executions.ts";
import { ageReview, asReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// A run that waits for people, on the embedded executor: every way in which a decision can arrive, and be missed.

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const position = { x: 0, y: 0 };
/** What a person decided, which is not the content that goes on by itself. */
const decision = { value: "{{Check.output}}" };

const database = testDatabase();
let admin: ProjectPrincipal;
let executor: LocalExecutor | undefined;
/** How far the executor's clock is ahead of the real one, which is the database's. */
let executorAhead = 0;
/** How far the app's clock is. */
let appAhead = 0;
let segments = 0;

beforeEach(async () => {
  admin = await database.newAdmin();
  [executorAhead, appAhead, segments] = [0, 0, 0];
  vi.spyOn(engineServices.clock, "now").mockImplementation(() => new Date(Date.now() + appAhead));
  const { store } = engineServices;
  const acquire = store.acquire.bind(store);
  vi.spyOn(store, "acquire").mockImplementation((...args) => {
    segments += 1;
    return acquire(...args);
  });
});
afterEach(async () => {
  await stop();
  vi.restoreAllMocks();
});

async function start(): Promise<void> {
  const handler = serve({ client: inngest(), functions: inngestFunctions() });
  executor = await startLocalExecutor({
    handler,
    concurrency: 10,
    clock: { now: () => new Date(Date.now() + executorAhead) },
    heartbeatMs: 500,
  });
}
async function stop(): Promise<void> {
  await executor?.stop(2000);
  executor = undefined;
}
/** Moves every clock but the database's, for which times that it compares with its own go back. */
async function move(ms: number): Promise<void> {
  executorAhead += ms;
  appAhead += ms;
  executor?.poke();
}

/** Loses the wakes that are sent until it is undone; with `by`, only those of decisions themselves. */
function loseWakes(by = ""): () => void {
  const send = inngest().send.bind(inngest());
  const spy = vi.spyOn(inngest(), "send").mockImplementation(async (events) => {
    const kept = [events].flat().filter((event) => event.name !== "execution/wake" || !event.id?.endsWith(by));
    return kept.length ? send(kept as typeof events) : { ids: [] };
  });
  return () => spy.mockRestore();
}

type Data = Record<string, unknown>;

/** Runs a workflow of these nodes; ids are also labels. */
async function run(nodes: Record<string, [type: string, data?: Data]>, edges: [string, string, string?][], input = "x"): Promise<string> {
  const { id: workflow_id } = await createWorkflow(admin, {
    name: `Reviewed ${crypto.randomUUID()}`,
    nodes: Object.entries(nodes).map(([id, [type, data]]) => ({ id, type, position, data: { label: id, ...data } })),
    edges: edges.map(([source, target, sourceHandle]) => ({
      id: `${source}>${target}`,
      source,
      target,
      ...(sourceHandle && { sourceHandle }),
    })),
  });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  return (await startExecution({ ...common, trigger: "manual", input, params: null })).execution_id;
}

const oneReview = (data: Data = {}) =>
  run({ t: ["triggerNode"], Check: ["humanLoopNode", data], yes: ["outputNode", decision], no: ["outputNode", decision] }, [
    ["t", "Check"],
    ["Check", "yes", "approved"],
    ["Check", "no", "rejected"],
  ]);

async function execution(id: string) {
  const { waits, ...row } = await db().execution.findUniqueOrThrow({ where: { id }, include: { values: true, waits: true } });
  return { ...row, reviews: waits.map(asReview) };
}
/** The run waits in the executor, its wait is stored and nothing of it is under way. */
const resting = (id: string) =>
  until(async () => {
    const { rows } = await pool().query(
      `SELECT FROM treadle_jobs.waits w JOIN treadle_jobs.runs r ON r.id = w.run_id
       WHERE r.event::json->'data'->>'execution_id' = $1 AND w.step_id IS NOT NULL AND r.owner IS NULL AND r.due_at > $2`,
      [id, Date.now() + executorAhead],
    );
    return rows.length === 1 && (await execution(id)).status === "paused";
  });
const ended = (id: string) =>
  until(async () => {
    const row = await execution(id);
    return row.completed_at ? row : undefined;
  });
const approve = (execution_id: string, more: { comment?: string } = {}) =>
  approveExecution(admin, { execution_id, decision: "approved", ...more });
const reviewOf = async (execution_id: string) => db().wait.findFirstOrThrow({ where: { execution_id } });

test("a lost wake: the sweeper brings the decision home", async () => {
  await start();
  const id = await oneReview();
  await resting(id);
  const found = loseWakes();
  await approve(id);
  found();
  const review = await reviewOf(id);
  await sweepExecutions();
  expect((await execution(id)).status).toBe("paused"); // not older than 3 s yet
  await ageReview(review.id, 4);
  await sweepExecutions();
  expect(await ended(id)).toMatchObject({ status: "completed", values: { output: "approved" }, dispatch: 0 });
});

test("a lost wake, and no sweeper: the wait is bounded, and the next look takes the decision", async () => {
  await start();
  const id = await oneReview();
  await resting(id);
  loseWakes();
  await approve(id, { comment: "late" });
  await move(14 * MINUTE_MS);
  await resting(id);
  await move(2 * MINUTE_MS);
  expect(await ended(id)).toMatchObject({ status: "completed", values: { output: "approved: late" } });
});

test("the wait grows to an hour and not beyond", async () => {
  await start();
  const id = await oneReview();
  for (const minutes of [15, 30, 60, 60]) {
    await resting(id);
    const { rows } = await pool().query<{ until: string }>(
      "SELECT w.until FROM treadle_jobs.waits w JOIN treadle_jobs.runs r ON r.id = w.run_id WHERE r.event::json->'data'->>'execution_id' = $1 AND w.step_id IS NOT NULL",
      [id],
    );
    const left = Number(rows[0]?.until) - Date.now() - executorAhead;
    expect(Math.round(left / MINUTE_MS)).toBe(minutes);
    await move(minutes * MINUTE_MS + 1000);
    await until(() => segments > [15, 30, 60, 60].indexOf(minutes) + 1);
  }
});

for (const seconds of [-5, 5])
  test(`the app's clock ${Math.abs(seconds)} s ${seconds < 0 ? "behind" : "ahead"}: a decision is taken, and a timeout fires without spinning`, async () => {
    appAhead = seconds * 1000;
    await start();
    const decided = await oneReview();
    await resting(decided);
    await approve(decided);
    expect(await ended(decided)).toMatchObject({ status: "completed", values: { output: "approved" } });

    const late = await oneReview({ timeout_hours: 1 });
    await resting(late);
    const { deadline: due_at } = await reviewOf(late);
    segments = 0;
    // The executor's clock says that the time is over; the app's says so a little later, or said so before.
    await move(HOUR_MS + Math.min(0, seconds + 2) * 1000);
    const row = await ended(late);
    expect(row).toMatchObject({ status: "completed", values: { output: "rejected" }, reviews: [{ status: "rejected", via: "timeout" }] });
    expect(engineServices.clock.now().getTime()).toBeGreaterThan((due_at?.getTime() ?? 0) - 1500);
    expect(segments).toBeLessThan(10);
  });

test("a run that another process holds is not asked about again and again, whose clock ever is ahead", async () => {
  executorAhead = 5000;
  const id = await oneReview();
  await db().execution.update({
    where: { id },
    data: { lease_owner: "another", lease_epoch: 1, lease_until: new Date(Date.now() + 30_000) },
  });
  await start();
  const sleeping = () =>
    until(async () => {
      const { rows } = await pool().query(
        "SELECT FROM treadle_jobs.runs WHERE event::json->'data'->>'execution_id' = $1 AND owner IS NULL AND due_at > $2",
        [id, Date.now() + executorAhead],
      );
      return rows.length === 1;
    });
  await until(() => segments > 0);
  await sleeping();
  expect(segments).toBe(1);
  await db().execution.update({ where: { id }, data: { lease_until: null } });
  await move(31_000);
  await resting(id);
  expect(segments).toBe(2);
});

test("events and steps hold ids, however large the texts of a run are", async () => {
  await start();
  const large = "large ".repeat(200_000);
  const nodes: Parameters<typeof run>[0] = {
    t: ["triggerNode"],
    Check: ["humanLoopNode"],
    o: ["outputNode", { value: "{{trigger.output}}" }],
  };
  const edges: Parameters<typeof run>[1] = [
    ["t", "Check"],
    ["Check", "o", "approved"],
  ];
  const id = await run(nodes, edges, large);
  await resting(id);
  expect((await reviewOf(id)).display_value).toBe(large);
  await approve(id, { comment: "word ".repeat(1000) });
  expect(await ended(id)).toMatchObject({ status: "completed", values: { output: large } });
  const { rows } = await pool().query<{ longest: number }>(
    `SELECT greatest((SELECT max(length(payload)) FROM treadle_jobs.events), max(length(r.event)), max(length(s.data)))::int AS longest
     FROM treadle_jobs.runs r LEFT JOIN treadle_jobs.steps s ON s.run_id = r.id`,
  );
  expect(rows[0]?.longest).toBeGreaterThan(100);
  expect(rows[0]?.longest).toBeLessThan(2000);
});

test("timeout_hours fires through the clock, with nobody looking", async () => {
  await start();
  const id = await oneReview({ timeout_hours: 48 });
  await resting(id);
  await move(47 * HOUR_MS);
  await resting(id);
  expect((await reviewOf(id)).status).toBe("waiting");
  await move(2 * HOUR_MS);
  const row = await ended(id);
  expect(row).toMatchObject({ status: "completed", values: { output: "rejected" }, reviews: [{ status: "rejected", via: "timeout" }] });
  expect(row.reviews[0]?.taken_at).not.toBeNull();
});

test("the executor down for ten minutes: what came due and what was decided meanwhile is taken, once", async () => {
  await start();
  const due = await oneReview({ timeout_hours: 0.1 }); // 6 minutes
  const decided = await oneReview();
  const both = await oneReview({ timeout_hours: 0.1 });
  const open = await oneReview({ timeout_hours: 2 });
  for (const id of [due, decided, both, open]) await resting(id);
  await stop();
  await approve(decided, { comment: "while you were away" });
  await approve(both);
  const requested = await oneReview(); // asked for while nobody is there
  await move(10 * MINUTE_MS);
  await start();
  expect(await ended(due)).toMatchObject({ values: { output: "rejected" }, reviews: [{ via: "timeout" }] });
  expect(await ended(decided)).toMatchObject({ values: { output: "approved: while you were away" } });
  expect(await ended(both)).toMatchObject({ values: { output: "approved" }, reviews: [{ status: "approved", via: "ui" }] });
  await resting(requested);
  await resting(open);
  await approve(open);
  expect(await ended(open)).toMatchObject({ values: { output: "approved" } });
});

test("a decision before the wait is stored, and one at the very moment of a restart, are not lost", async () => {
  await start();
  // Decided between the segment's last look and its end, and right after its end: its own wake finds nobody who waits.
  const { store } = engineServices;
  const release = store.release.bind(store);
  for (const isBefore of [true, false]) {
    const released = vi.spyOn(store, "release").mockImplementationOnce(async (run, wait) => {
      const found = loseWakes("-decided");
      if (isBefore) await approve(run.id);
      await release(run, wait);
      if (!isBefore) await approve(run.id);
      found();
    });
    const id = await oneReview();
    expect(await ended(id)).toMatchObject({ values: { output: "approved" }, dispatch: 0 });
    released.mockRestore();
  }
  // Decided while the executor goes down, and while it comes up again.
  const [before, after] = [await oneReview(), await oneReview()];
  await resting(before);
  await resting(after);
  await Promise.all([stop(), approve(before)]);
  await Promise.all([start(), approve(after)]);
  for (const id of [before, after]) expect(await ended(id)).toMatchObject({ values: { output: "approved" }, dispatch: 0 });
});

test("a decision and the timeout at once: one counts, the run takes that one, and once", async () => {
  await start();
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round++) {
    const id = await oneReview({ timeout_hours: 1 });
    await resting(id);
    const { id: review_id } = await reviewOf(id);
    // From 200 ms before the deadline to a little after it.
    await pool().query("UPDATE waits SET deadline = now() + make_interval(secs => $2) WHERE id = $1", [review_id, 0.2 - round * 0.02]);
    const decision = approve(id).catch((error: unknown) => error);
    await move(HOUR_MS);
    const answer = await decision;
    const row = await ended(id);
    const [review] = row.reviews;
    expect(row.values?.output).toBe(review?.status);
    expect(answer instanceof Error).toBe(review?.via === "timeout");
    expect(await db().nodeRun.count({ where: { execution_id: id, node_id: "Check" } })).toBe(1);
    expect(await db().executionEvent.count({ where: { execution_id: id, type: "execution_resumed" } })).toBe(1);
    outcomes.add(String(review?.via));
  }
  expect([...outcomes].every((via) => via === "ui" || via === "timeout")).toBe(true);
});

test("a loop of 500 reviews: each is taken, and the run continues as new long before 1,000 steps", { timeout: 240_000 }, async () => {
  await start();
  const items = Array.from({ length: 500 }, (_, index) => index);
  const id = await run(
    {
      t: ["triggerNode"],
      Each: ["loopNode", { items_expression: "{{trigger.output}}" }],
      Check: ["humanLoopNode", { display_value: "{{Each.current_item}}" }],
      all: ["outputNode", { value: "{{Each.output}}" }],
    },
    [
      ["t", "Each"],
      ["Each", "Check", "body"],
      ["Each", "all", "done"],
    ],
    JSON.stringify(items),
  );
  const { user, role, auth } = admin;
  for (const item of items) {
    const where = { execution_id: id, iteration: `${item}`, status: "waiting" } as const;
    const review = await soon(() => db().wait.findFirst({ where, select: { id: true } }), 20_000);
    await decideReview(review.id, { user, role, auth }, { decision: "approved", comment: `${item}` });
  }
  const row = await ended(id);
  expect(JSON.parse(row.values?.output ?? "")).toEqual(items.map((item) => `approved: ${item}`));
  expect(row.status).toBe("completed");
  expect(row.dispatch).toBeGreaterThan(0);
  expect(row.reviews.every((review) => review.taken_at !== null)).toBe(true);
  const { rows } = await pool().query<{ steps: number }>(
    `SELECT count(*)::int AS steps FROM treadle_jobs.steps s JOIN treadle_jobs.runs r ON r.id = s.run_id
     WHERE r.event::json->'data'->>'execution_id' = $1 AND r.fn_id LIKE '%run-workflow' GROUP BY r.id`,
    [id],
  );
  // Of a function run that ends, what its last call brought is not kept: one of a single step has none.
  expect(rows.length).toBeGreaterThanOrEqual(row.dispatch);
  for (const { steps } of rows) expect(steps).toBeLessThan(400);
});
