import pg from "pg";
import { afterEach, beforeEach, expect, onTestFinished, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import { approveExecution, decideReview } from "#server/features/reviews/decide.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { executeDue } from "#server/jobs/run-workflow.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { claimDue } from "#server/runs/store/leases.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { type ExecuteDue, startRunWorker } from "#server/runs/worker/run-worker.ts";
import { asReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { times } from "#server/testing/times.ts";

// Runs that are carried because their rows are due: every way in which a decision can arrive, and the limits.

const HOUR_MS = 3_600_000;
const position = { x: 0, y: 0 };
/** What a person decided, which is not the content that goes on by itself. */
const decision = { value: "{{Check.output}}" };

const database = testDatabase();
let admin: ProjectPrincipal;
let stopWorker: ((graceMs: number) => Promise<void>) | undefined;
/** How far the app's clock is ahead of the database's. */
let appAhead = 0;
let segments = 0;

beforeEach(async () => {
  admin = await database.newAdmin();
  [appAhead, segments] = [0, 0];
  vi.spyOn(engineServices.clock, "now").mockImplementation(() => new Date(Date.now() + appAhead));
});
afterEach(async () => {
  await stop();
  vi.restoreAllMocks();
  setSettings({ PROJECT_CONCURRENCY: "25", WORKER_CONCURRENCY: "50" });
});

async function start(carry: ExecuteDue = executeDue): Promise<void> {
  stopWorker = await startRunWorker(pool(), engineServices, (run, state) => {
    segments += 1;
    return carry(run, state);
  });
}
async function stop(): Promise<void> {
  await stopWorker?.(2000);
  stopWorker = undefined;
}
/** So much time goes by: whatever is due in the future comes nearer. */
async function move(ms: number): Promise<void> {
  const seconds = ms / 1000;
  await pool().query("UPDATE waits SET deadline = deadline - make_interval(secs => $1) WHERE status = 'waiting'", [seconds]);
  await pool().query(
    "UPDATE executions SET run_at = run_at - make_interval(secs => $1), lease_until = lease_until - make_interval(secs => $1)",
    [seconds],
  );
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
/** The run waits, and nothing of it is under way. */
const resting = (id: string) =>
  until(async () => {
    const row = await execution(id);
    return row.status === "paused" && row.lease_until === null && (row.run_at === null || row.run_at.getTime() > Date.now());
  });
const ended = (id: string) =>
  until(async () => {
    const row = await execution(id);
    return row.completed_at ? row : undefined;
  });
const approve = (execution_id: string, more: { comment?: string } = {}) =>
  approveExecution(admin, { execution_id, decision: "approved", ...more });
const reviewOf = async (execution_id: string) => db().wait.findFirstOrThrow({ where: { execution_id } });

test("a wait of a moment ends by itself, without anybody who sweeps", async () => {
  await start();
  const id = await run({ t: ["triggerNode"], w: ["waitNode", { mode: "for", seconds: 1 }], o: ["outputNode"] }, [
    ["t", "w"],
    ["w", "o", "done"],
  ]);
  expect(await ended(id)).toMatchObject({ status: "completed", values: { output: "x" } });
  expect(segments).toBe(2);
});

test("a decision of which nobody was told: the row says so, and the sweeper looks", async () => {
  await start();
  const id = await oneReview();
  await resting(id);
  await pool().query(
    `UPDATE waits SET status = 'resolved', outcome = '{"decision":"approved","comment":null}', resolved_at = now() WHERE execution_id = $1`,
    [id],
  );
  await pool().query("UPDATE executions SET run_at = now() - interval '1 millisecond' WHERE id = $1", [id]);
  expect((await execution(id)).status).toBe("paused");
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(await ended(id)).toMatchObject({ status: "completed", values: { output: "approved" } });
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
    segments = 0;
    await move(HOUR_MS + Math.max(0, seconds) * 1000);
    await sweep(waitSweep, reviewSweep, executionSweep);
    const row = await ended(late);
    expect(row).toMatchObject({ status: "completed", values: { output: "rejected" }, reviews: [{ status: "rejected", via: "timeout" }] });
    expect(segments).toBeLessThan(10);
  });

test("a run that another process holds is left to it, until its lease has ended", async () => {
  const id = await oneReview();
  const until30 = new Date(Date.now() + 30_000);
  await db().execution.update({ where: { id }, data: { lease_owner: "another", lease_epoch: 1, lease_until: until30, run_at: until30 } });
  await start();
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(await engineServices.store.claim(id)).toMatchObject({ kind: "busy" });
  expect(segments).toBe(0);
  await move(31_000);
  await sweep(waitSweep, reviewSweep, executionSweep);
  await resting(id);
  expect(segments).toBe(1);
  // It was not given back, and somebody looked for it meanwhile: both were taken note of.
  expect(await execution(id)).toMatchObject({ wake: false, lease_epoch: 2 });
});

test("timeout_hours fires by the row, with nobody looking", async () => {
  await start();
  const id = await oneReview({ timeout_hours: 48 });
  await resting(id);
  await move(47 * HOUR_MS);
  await sweep(waitSweep, reviewSweep, executionSweep);
  await resting(id);
  expect((await reviewOf(id)).status).toBe("waiting");
  await move(2 * HOUR_MS);
  await sweep(waitSweep, reviewSweep, executionSweep);
  const row = await ended(id);
  expect(row).toMatchObject({ status: "completed", values: { output: "rejected" }, reviews: [{ status: "rejected", via: "timeout" }] });
  expect(row.reviews[0]?.taken_at).not.toBeNull();
});

test("nobody there for ten minutes: what came due and what was decided meanwhile is taken, once", async () => {
  await start();
  const due = await oneReview({ timeout_hours: 0.1 }); // 6 minutes
  const decided = await oneReview();
  const both = await oneReview({ timeout_hours: 0.1 });
  const open = await oneReview({ timeout_hours: 2 });
  for (const id of [due, decided, both, open]) await resting(id);
  await stop();
  await approve(decided, { comment: "while you were away" });
  await approve(both);
  const requested = await oneReview(); // accepted while nobody is there
  await move(10 * 60_000);
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
  // Decided between the last look and the giving back of the lease, and right after that.
  const { store } = engineServices;
  const release = store.release.bind(store);
  for (const isBefore of [true, false]) {
    const released = vi.spyOn(store, "release").mockImplementationOnce(async (given, next) => {
      if (isBefore) await approve(given.id);
      const isDue = await release(given, next);
      if (!isBefore) await approve(given.id);
      return isDue;
    });
    const id = await oneReview();
    expect(await ended(id)).toMatchObject({ values: { output: "approved" } });
    released.mockRestore();
  }
  // Decided while the worker goes down, and while it comes up again.
  const [before, after] = [await oneReview(), await oneReview()];
  await resting(before);
  await resting(after);
  await Promise.all([stop(), approve(before)]);
  await Promise.all([start(), approve(after)]);
  for (const id of [before, after]) expect(await ended(id)).toMatchObject({ values: { output: "approved" }, crashes: 0 });
});

test("a decision and the timeout at once: one counts, the run takes that one, and once", async () => {
  await start();
  const outcomes = new Set<string>();
  for (let round = 0; round < 12; round++) {
    const id = await oneReview({ timeout_hours: 1 });
    await resting(id);
    const { id: review_id } = await reviewOf(id);
    // From 200 ms before the deadline to a little after it.
    const values = [review_id, 0.2 - round * 0.02];
    await pool().query("UPDATE waits SET deadline = now() + make_interval(secs => $2) WHERE id = $1", values);
    const decided = approve(id).catch((error: unknown) => error);
    await pool().query("UPDATE executions SET run_at = now() - interval '1 millisecond' WHERE id = $1", [id]);
    await sweep(waitSweep, reviewSweep, executionSweep);
    const answer = await decided;
    await move(1000);
    await sweep(waitSweep, reviewSweep, executionSweep);
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

test("each of a loop's many reviews, decided as soon as it is there or as soon as the run rests, is taken, and no wake is lost", {
  timeout: 240_000,
}, async () => {
  const { user, role, auth } = admin;
  const decisions: Promise<unknown>[] = [];
  const decide = async (review_id: string) => {
    const { iteration } = await db().wait.findUniqueOrThrow({ where: { id: review_id }, select: { iteration: true } });
    await decideReview(review_id, { user, role, auth }, { decision: "approved", comment: iteration });
  };
  const open: string[] = [];
  vi.spyOn(engineServices, "reviewsOpened").mockImplementation((ids) => {
    if (decisions.length % 2) decisions.push(...ids.map(decide));
    else open.push(...ids);
  });
  const { store } = engineServices;
  const release = store.release.bind(store);
  vi.spyOn(store, "release").mockImplementation(async (...how) => {
    const isDue = await release(...how);
    decisions.push(...open.splice(0).map(decide));
    return isDue;
  });
  await start();
  const items = Array.from({ length: times(50) }, (_, index) => index);
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
  await until(() => decisions.length === items.length, 200_000);
  await Promise.all(decisions);
  const row = await ended(id);
  expect(JSON.parse(row.values?.output ?? "")).toEqual(items.map((item) => `approved: ${item}`));
  expect(row).toMatchObject({ status: "completed", crashes: 0, run_at: null, lease_until: null });
  expect(row.reviews.every((review) => review.taken_at !== null)).toBe(true);
});

/** A run that asks an agent. */
const oneCall = () =>
  run({ t: ["triggerNode"], a: ["agentNode", { agent_id: "any" }], o: ["outputNode", { value: "{{a.output}}" }] }, [
    ["t", "a"],
    ["a", "o"],
  ]);
/** Answers what agents are asked once the gate is open. */
function answerBehindGate() {
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  vi.spyOn(engineServices, "agentNames").mockImplementation(async (_, ids) => new Map(ids.map((id) => [id, id])));
  const call = vi.spyOn(engineServices, "callAgent").mockImplementation(async () => {
    await gate.promise;
    return { output: "said" };
  });
  return { call, open: gate.resolve };
}

test("a database that goes away while runs are carried, and comes back, ends nothing: no result is lost, and none is asked for again", async () => {
  const { call, open } = answerBehindGate();
  const claimed = await oneCall();
  await start();
  await until(() => call.mock.calls.length === 1);
  const begun = await oneCall(); // here, where it is accepted
  await until(() => call.mock.calls.length === 2);

  const address = new URL(settings().DATABASE_URL ?? "");
  const name = address.pathname.slice(1);
  const outside = new pg.Client({ connectionString: Object.assign(address, { pathname: "/postgres" }).href });
  await outside.connect();
  await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS false`);
  await outside.query("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", [name]);
  await expect(pool().query("SELECT 1")).rejects.toThrow();
  open();
  await outside.query(`ALTER DATABASE ${name} ALLOW_CONNECTIONS true`);
  await outside.end();

  for (const id of [claimed, begun])
    expect(await ended(id)).toMatchObject({ status: "completed", values: { output: "said" }, lease_epoch: 1, crashes: 0 });
  // The worker works on, and hears again of what others accept.
  expect(await ended(await oneCall())).toMatchObject({ status: "completed" });
  const asked = await oneReview();
  await resting(asked);
  await pool().query("WITH due AS (UPDATE executions SET run_at = now() WHERE id = $1) SELECT pg_notify('treadle_due', '')", [asked]);
  await until(async () => (await execution(asked)).lease_epoch === 2);
  await resting(asked);
  expect(call).toHaveBeenCalledTimes(3);
});

test("claims and writes whose answers are lost leave no run behind: it goes on once its lease has ended, and nothing is done twice", async () => {
  const { call, open } = answerBehindGate();
  open();
  const id = await run(
    { t: ["triggerNode"], a: ["agentNode", { agent_id: "any" }], Check: ["humanLoopNode"], o: ["outputNode", { value: "{{a.output}}" }] },
    [
      ["t", "a"],
      ["a", "Check"],
      ["Check", "o", "approved"],
    ],
  );
  const query = pool().query.bind(pool());
  const lost = new Set(["run-claim-due", "run-commit", "run-commit-waits", "run-release"]);
  vi.spyOn(pool(), "query").mockImplementation((async (...args: Parameters<typeof query>) => {
    const result = await query(...args);
    if (lost.delete(String(Reflect.get(Object(args[0]), "name")))) throw new Error("Connection terminated unexpectedly");
    return result;
  }) as typeof query);
  await start();
  await until(() => !lost.has("run-claim-due"));
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(await execution(id)).toMatchObject({ status: "running", lease_epoch: 1, lease_until: expect.any(Date), commit_no: 0 });
  expect(call).not.toHaveBeenCalled();
  await move(31_000);
  await sweep(waitSweep, reviewSweep, executionSweep);
  await resting(id);
  await approve(id);
  expect(await ended(id)).toMatchObject({ status: "completed", values: { output: "said" }, lease_epoch: 3, crashes: 0 });
  expect([...lost]).toEqual([]);
  expect(call).toHaveBeenCalledTimes(1);
  const attempts = await db().nodeRun.findMany({ where: { execution_id: id }, select: { node_id: true, attempt: true } });
  expect(attempts.map(({ node_id, attempt }) => `${node_id}${attempt}`).sort()).toEqual(["Check1", "a1", "o1", "t1"]);
});

test("no more runs of a project are carried at once than it may, and the next one starts when one ends", async () => {
  setSettings({ PROJECT_CONCURRENCY: "3" });
  const gate = Promise.withResolvers<void>();
  onTestFinished(() => gate.resolve());
  let most = 0;
  const carried: string[] = [];
  const other = await database.newAdmin();
  await start(async (due, state) => {
    carried.push(due.project_id);
    const { rows } = await pool().query<{ live: number }>(
      "SELECT count(*)::int AS live FROM executions WHERE project_id = $1 AND lease_until > now()",
      [due.project_id],
    );
    most = Math.max(most, rows[0]?.live ?? 0);
    await gate.promise;
    await executeDue(due, state);
  });
  const mine = [];
  for (let count = 0; count < 8; count++) mine.push(await oneReview());
  admin = other;
  const theirs = await oneReview();
  // The others wait, and hold up no other project.
  await until(() => carried.length === 4);
  expect(carried.filter((id) => id === other.project.id)).toHaveLength(1);
  gate.resolve();
  for (const id of [...mine, theirs]) await resting(id);
  expect(most).toBe(3);
  expect(carried).toHaveLength(9);
});

test("a stop waits for a look under way, and leaves no lease behind that it has just taken", async () => {
  const id = await oneReview();
  const [looked, gate] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const query = pool().query.bind(pool());
  vi.spyOn(pool(), "query").mockImplementation((async (...args: Parameters<typeof query>) => {
    const result = await query(...args);
    if (Reflect.get(Object(args[0]), "name") === "run-claim-due") {
      looked.resolve();
      await gate.promise;
    }
    return result;
  }) as typeof query);
  await start();
  await looked.promise;
  expect(await execution(id)).toMatchObject({ lease_until: expect.any(Date) });
  const stopped = stop();
  gate.resolve();
  await stopped;
  expect(await execution(id)).toMatchObject({ status: "paused", lease_until: null, crashes: 0 });
});

test("leases that were not given back are counted, until a node ends; the third is the run's end", async () => {
  const id = await oneReview();
  const { store } = engineServices;
  const crash = async () => {
    expect((await store.claim(id)).kind).toBe("claimed");
    await pool().query(
      "UPDATE executions SET lease_until = now() - interval '1 second', run_at = now() - interval '1 second' WHERE id = $1",
      [id],
    );
  };
  await crash();
  await crash();
  // A lease that is given back counts for nothing.
  const claim = await store.claim(id);
  if (claim.kind === "claimed") await store.release(claim.run, { kind: "now" });
  expect(await execution(id)).toMatchObject({ crashes: 2 });
  await start();
  await resting(id);
  expect(await execution(id)).toMatchObject({ status: "paused", crashes: 0 });
  await stop();

  const other = await oneReview();
  for (let times = 0; times < 3; times++) {
    expect((await store.claim(other)).kind).toBe("claimed");
    await pool().query(
      "UPDATE executions SET lease_until = now() - interval '1 second', run_at = now() - interval '1 second' WHERE id = $1",
      [other],
    );
  }
  await start();
  const row = await ended(other);
  expect(row).toMatchObject({ status: "failed", error: expect.stringContaining("stopped 3 times in a row"), run_at: null });
});

test("of runs under which a process has died twice, one is executed at a time, and none beside a deadly one is failed for it", async () => {
  const died = (crashes: number, ids: readonly string[]) =>
    pool().query(
      `UPDATE executions SET crashes = $2, lease_owner = 'a dead process', lease_until = now() - interval '1 second', run_at = now() - interval '1 second'
       WHERE id = ANY($1::uuid[])`,
      [ids, crashes],
    );
  const suspects = [await oneReview(), await oneReview(), await oneReview(), await oneReview()];
  const others = [await oneReview(), await oneReview()];
  await died(1, suspects);
  await died(0, others);
  const claimed = async (takesSuspect: boolean) =>
    (await claimDue(10, [], takesSuspect)).runs.filter(({ project_id }) => project_id === admin.project.id);

  const first = await claimed(true);
  const [suspect = first[0], ...more] = first.filter(({ isSuspect }) => isSuspect);
  expect(more).toEqual([]);
  expect(first.map(({ id }) => id).sort()).toEqual([suspect?.id, ...others].sort());
  expect(await claimed(false)).toEqual([]);
  const [deadly, ...besides] = await claimed(true);
  expect(besides).toEqual([]);
  expect(deadly).toMatchObject({ isSuspect: true });

  // It is what ended the process, and fails. The two that were not under way then go on one after the other, with others beside them.
  await died(2, [String(deadly?.id)]);
  const left = suspects.filter((id) => id !== suspect?.id && id !== deadly?.id);
  const taken: string[] = [];
  const gate = Promise.withResolvers<void>();
  await start(async (run, state) => {
    if (left.includes(run.id)) {
      taken.push(run.id);
      await gate.promise;
    }
    await executeDue(run, state);
  });
  expect(await ended(String(deadly?.id))).toMatchObject({ status: "failed" });
  await until(() => taken.length > 0);
  await resting(await oneReview());
  expect(taken).toHaveLength(1);
  gate.resolve();
  for (const id of left) {
    await resting(id);
    expect(await execution(id)).toMatchObject({ status: "paused", crashes: 0 });
  }
  expect(taken.sort()).toEqual(left.sort());
});

test("a run under which processes have died has no place beyond those of its project", async () => {
  setSettings({ PROJECT_CONCURRENCY: "1" });
  const ids = [await oneReview(), await oneReview()];
  await pool().query("UPDATE executions SET crashes = 2 WHERE id = $1", [ids[1]]);
  expect((await claimDue(10, [])).runs.filter(({ id }) => ids.includes(id))).toHaveLength(1);
  await pool().query("DELETE FROM executions WHERE id = ANY($1)", [ids]); // no test after this one is to find it due
});

test("however many accept and claim side by side, no project gets more places than it has", async () => {
  setSettings({ PROJECT_CONCURRENCY: "4" });
  const ids: string[] = [];
  for (let count = 0; count < 12; count++) ids.push(await oneReview());
  const claims = await Promise.all([
    ...ids.slice(0, 8).map((id) => engineServices.store.claim(id)),
    ...[5, 5, 5].map((most) => claimDue(most, [])),
  ]);
  const taken = claims.reduce((sum, claim) => sum + ("runs" in claim ? claim.runs.length : Number(claim.kind === "claimed")), 0);
  expect(taken).toBe(4);
  const { rows } = await pool().query("SELECT count(*)::int AS live FROM executions WHERE project_id = $1 AND lease_until > now()", [
    admin.project.id,
  ]);
  expect(rows).toEqual([{ live: 4 }]);
});
