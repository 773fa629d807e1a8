import { beforeEach, expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { approveExecution, decideReview } from "#server/features/reviews/decide.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, inTransaction, pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { isAppError } from "#server/platform/errors.ts";
import { requestAnew } from "#server/runs/store/queue.ts";
import { resolveWait } from "#server/runs/store/waits.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { expireWaits, reviewSweep, waitSweep, wakeIfEnded } from "#server/runs/waits/sweep-waits.ts";
import { ageReview, collectEvents, inSeconds, newPausedRun, openReview, type SentEvent } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let execution_id: string;
let sent: SentEvent[];

beforeEach(async () => {
  admin = await database.newAdmin();
  execution_id = await newPausedRun(admin);
  sent = collectEvents();
  await pool().query("UPDATE waits SET taken_at = now(), notified_at = now()"); // of earlier tests
});

const rowOf = (id: string) => db().wait.findUniqueOrThrow({ where: { id } });
const wakes = () => sent.filter(({ name }) => name === "execution/wake");

test("the wake of a decision that no segment takes is repeated at doubling intervals", async () => {
  const { id } = await openReview(execution_id, "a");
  await approveExecution(admin, { execution_id, decision: "approved" });
  const countWakes = async (seconds: number) => {
    await ageReview(id, seconds);
    sent.length = 0;
    await sweep(waitSweep);
    return wakes().length;
  };

  expect(await countWakes(0)).toBe(0); // the run has had no time yet
  expect(await countWakes(20)).toBe(0); // a server may be this far behind
  expect(await countWakes(20)).toBe(1);
  expect(await countWakes(30)).toBe(0); // 30 s after the last wake, which came after 40
  expect(await countWakes(20)).toBe(1); // 50 s after it, 90 s after the decision
  expect(await countWakes(80)).toBe(0);
  expect(await countWakes(20)).toBe(1);
});

test("every wake of one decision has the same id", async () => {
  const { id } = await openReview(execution_id, "a");
  await approveExecution(admin, { execution_id, decision: "approved" });
  for (const seconds of [40, 100, 300]) {
    await ageReview(id, seconds);
    await sweep(waitSweep);
  }

  expect(wakes().map((event) => event.id)).toEqual(Array(4).fill(`${id}-decided`));
});

test("a run that its wakes do not reach is requested at doubling intervals", async () => {
  await openReview(execution_id, "a");
  await pool().query("UPDATE executions SET is_asleep = true, lease_epoch = 1, claimed_dispatch = 0 WHERE id = $1", [execution_id]);
  await approveExecution(admin, { execution_id, decision: "approved" });
  const requests: number[] = [];
  const minutes: number[] = [];
  for (let round = 0; round < 5; round++) {
    await pool().query("UPDATE executions SET run_at = now() WHERE id = $1", [execution_id]);
    await sweep(executionSweep);
    const { run_at } = await db().execution.findUniqueOrThrow({ where: { id: execution_id } });
    minutes.push(Math.round((Number(run_at) - Date.now()) / 60_000));
    requests.push(sent.filter(({ name }) => name === "execution/requested").length);
  }

  expect(requests).toEqual([0, 1, 2, 3, 4]);
  expect(minutes).toEqual([2, 2, 4, 8, 16]);
});

test("a process that starts requests runs whose waits ended meanwhile", async () => {
  const other = await newPausedRun(admin, "Other");
  await openReview(execution_id, "a");
  await openReview(other, "a");
  await pool().query("UPDATE executions SET is_asleep = true, lease_epoch = 1, claimed_dispatch = 0 WHERE id = ANY($1::uuid[])", [
    [execution_id, other],
  ]);
  await approveExecution(admin, { execution_id, decision: "approved" });
  await pool().query("UPDATE executions SET run_at = now() + interval '90 seconds' WHERE id = $1", [execution_id]);
  sent.length = 0;

  await requestAnew();
  await sweep(executionSweep);

  const requested = sent.filter(({ name }) => name === "execution/requested").map(({ data }) => data.execution_id);
  expect(requested).toContain(execution_id);
  expect(requested).not.toContain(other);
});

test("a decision under a live lease, taken, or of a run that ended, wakes nobody", async () => {
  const { id } = await openReview(execution_id, "a");
  await approveExecution(admin, { execution_id, decision: "approved" });
  await ageReview(id, 60);
  await db().execution.update({ where: { id: execution_id }, data: { lease_until: inSeconds(30) } });
  sent.length = 0;
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(wakes()).toEqual([]);
  await db().execution.update({ where: { id: execution_id }, data: { lease_until: null, status: "failed" } });
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(wakes()).toEqual([]);
  expect((await rowOf(id)).taken_at).not.toBeNull();
});

test("wakes a run once when the decision came before its stored wait", async () => {
  const { id } = await openReview(execution_id, "a");
  await wakeIfEnded(execution_id, "0-0");
  expect(wakes()).toEqual([]);
  await approveExecution(admin, { execution_id, decision: "rejected" });
  for (const turn of ["0-0", "0-0", "0-1"]) await wakeIfEnded(execution_id, turn);
  await until(() => wakes().length === 4);
  expect(wakes().map((event) => event.id)).toEqual([
    `${id}-decided`,
    ...["0-0", "0-0", "0-1"].map((turn) => `${execution_id}-look-${turn}`),
  ]);
  await db().wait.update({ where: { id }, data: { taken_at: new Date() } });
  await wakeIfEnded(execution_id, "0-2");
  expect(wakes()).toHaveLength(4);
});

test("reviews that nobody was told of are announced again by the sweeper", async () => {
  const { id } = await openReview(execution_id, "a");
  const announced = () => sent.filter(({ name }) => name === "review/opened").map((event) => event.data.review_id);
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(announced()).toEqual([]);
  await ageReview(id, 11);
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(announced()).toEqual([id]);
  await db().wait.update({ where: { id }, data: { notified_at: new Date() } });
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(announced()).toEqual([id]);
});

test("what ends a wait makes its run due in the same statement, whoever was first", async () => {
  const { id } = await openReview(execution_id, "a");
  const outcome = { decision: "approved", comment: null };
  const run_at = await inTransaction(async (client) => {
    expect(await resolveWait({ id, reason: "review", outcome }, client)).toMatchObject({ id, execution_id });
    expect(await resolveWait({ id, reason: "review", outcome }, client)).toBeUndefined();
    return (await client.query<{ run_at: Date | null }>("SELECT run_at FROM executions WHERE id = $1", [execution_id])).rows[0]?.run_at;
  });
  expect(run_at).toEqual(expect.any(Date));
  await db().execution.update({ where: { id: execution_id }, data: { run_at: null } });
  await openReview(execution_id, "b", { due_at: inSeconds(-1) });
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect((await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).run_at).toEqual(expect.any(Date));
});

test("a decision and a deadline wait for whoever ends the run, and hold nothing that it needs", async () => {
  const decided = await openReview(execution_id, "a");
  const expired = await openReview(execution_id, "b", { due_at: inSeconds(-1) });
  const waiting =
    "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%UPDATE waits%'";
  let ends: Promise<PromiseSettledResult<void>[]> | undefined;
  await inTransaction(async (client) => {
    await client.query("SELECT FROM executions WHERE id = $1 FOR UPDATE", [execution_id]);
    const actor = { user: { ...admin.user }, role: admin.role, auth: admin.auth };
    ends = asOtherCaller(() => Promise.allSettled([decideReview(decided.id, actor, { decision: "approved" }), expireWaits(expired.id)]));
    await asOtherCaller(() => until(async () => (await pool().query(waiting)).rowCount === 2));
    await client.query("SET LOCAL lock_timeout = '2s'");
    await client.query("UPDATE waits SET status = 'withdrawn', resolved_at = now() WHERE execution_id = $1", [execution_id]);
    await client.query("UPDATE executions SET status = 'cancelled', run_at = NULL WHERE id = $1", [execution_id]);
  });
  const [decision, expiry] = (await ends) ?? [];
  expect(decision).toMatchObject({ status: "rejected", reason: { code: "CONFLICT" } });
  expect(expiry).toMatchObject({ status: "fulfilled" });
  expect([(await rowOf(decided.id)).status, (await rowOf(expired.id)).status]).toEqual(["withdrawn", "withdrawn"]);
  expect((await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).run_at).toBeNull();
});

test("of decisions, deadlines and cancels that come at once, each wait ends one way and nobody waits in a circle", async () => {
  const runs = await Promise.all(Array.from({ length: 12 }, (_, n) => newPausedRun(admin, `Hurried ${n}`)));
  const attempts = await Promise.all(
    runs.map(async (id) => {
      for (const iteration of ["0", "1", "2"]) await openReview(id, "a", { iteration, due_at: inSeconds(-1) });
      for (const iteration of ["0", "1", "2"]) await openReview(id, "b", { iteration });
      const approve = (iteration: string) => approveExecution(admin, { execution_id: id, node_id: "b", iteration, decision: "approved" });
      return [
        () => approve("0"),
        () => cancelExecution(admin, { execution_id: id }),
        () => sweep(waitSweep, reviewSweep, executionSweep),
        () => approve("1"),
      ];
    }),
  );
  const results = await Promise.allSettled(attempts.flat().map(async (attempt) => attempt()));
  const faults = results.flatMap((one) => (one.status === "rejected" && !isAppError(one.reason) ? [one.reason] : []));
  expect(faults).toEqual([]);
  const rows = await db().execution.findMany({ where: { id: { in: runs } }, include: { waits: true } });
  expect(new Set(rows.map(({ status, run_at }) => `${status} ${run_at}`))).toEqual(new Set(["cancelled null"]));
  const waits = rows.flatMap((row) => row.waits);
  expect(waits.filter(({ status, resolved_at }) => status === "waiting" || !resolved_at)).toEqual([]);
  // Who was told that the decision counts finds it there.
  const approved = results.filter((one, n) => n % 4 !== 1 && n % 4 !== 2 && one.status === "fulfilled");
  expect(waits.filter(({ status }) => status === "resolved")).toHaveLength(approved.length);
});
