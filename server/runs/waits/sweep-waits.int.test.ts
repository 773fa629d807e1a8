import { beforeEach, expect, test } from "vitest";
import { approveExecution } from "#server/features/reviews/decide.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweepExecutions } from "#server/runs/use-cases/sweep-executions.ts";
import { wakeIfEnded } from "#server/runs/waits/sweep-waits.ts";
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

test("a decision that no segment takes is told again at doubling distance, then asked for anew", async () => {
  const { id } = await openReview(execution_id, "a");
  await approveExecution(admin, { execution_id, decision: "approved" });
  const tell = async (seconds: number) => {
    await ageReview(id, seconds);
    sent.length = 0;
    await sweepExecutions();
    return wakes().length;
  };
  const dispatch = async () => (await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).dispatch;
  expect(await tell(0)).toBe(0); // the run has had no time yet
  expect(await tell(40)).toBe(1);
  expect(await tell(30)).toBe(0); // 30 s after the last wake, which came after 40
  expect(await tell(20)).toBe(1); // 50 s after it, 90 s after the decision
  expect(await tell(80)).toBe(0);
  expect(await dispatch()).toBe(0);
  expect(await tell(20)).toBe(1);
  expect(await dispatch()).toBe(1); // 190 s after the decision the run is asked for anew as well
  const ids = new Set<unknown>();
  for (const seconds of [200, 400, 800]) {
    await tell(seconds);
    for (const event of wakes()) ids.add(event.id);
  }
  expect(ids.size).toBe(3);
});

test("a decision under a live lease, taken, or of a run that ended, wakes nobody", async () => {
  const { id } = await openReview(execution_id, "a");
  await approveExecution(admin, { execution_id, decision: "approved" });
  await ageReview(id, 60);
  await db().execution.update({ where: { id: execution_id }, data: { lease_until: inSeconds(30) } });
  sent.length = 0;
  await sweepExecutions();
  expect(wakes()).toEqual([]);
  await db().execution.update({ where: { id: execution_id }, data: { lease_until: null, status: "failed" } });
  await sweepExecutions();
  expect(wakes()).toEqual([]);
  expect((await rowOf(id)).taken_at).not.toBeNull();
});

test("a run that has stored its wait is woken when the decision came before, each time with a new event", async () => {
  const { id } = await openReview(execution_id, "a");
  await wakeIfEnded(execution_id);
  expect(wakes()).toEqual([]);
  await approveExecution(admin, { execution_id, decision: "rejected" });
  await wakeIfEnded(execution_id);
  await wakeIfEnded(execution_id);
  expect(new Set(wakes().map((event) => event.id)).size).toBe(3);
  await db().wait.update({ where: { id }, data: { taken_at: new Date() } });
  await wakeIfEnded(execution_id);
  expect(wakes()).toHaveLength(3);
});

test("reviews that nobody was told of are announced again by the sweeper", async () => {
  const { id } = await openReview(execution_id, "a");
  const announced = () => sent.filter(({ name }) => name === "review/opened").map((event) => event.data.review_id);
  await sweepExecutions();
  expect(announced()).toEqual([]);
  await ageReview(id, 11);
  await sweepExecutions();
  expect(announced()).toEqual([id]);
  await db().wait.update({ where: { id }, data: { notified_at: new Date() } });
  await sweepExecutions();
  expect(announced()).toEqual([id]);
});
