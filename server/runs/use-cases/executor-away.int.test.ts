import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import { inngest } from "#server/events/inngest-client.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { setSettings } from "#server/platform/settings.ts";
import { executionSweep } from "#server/runs/use-cases/sweep-executions.ts";
import { reviewSweep, waitSweep } from "#server/runs/waits/sweep-waits.ts";
import { redispatch } from "#server/runs/worker/dispatch.ts";
import { newPausedRun } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
beforeAll(() => {
  setSettings({ INNGEST_BASE_URL: "http://127.0.0.1:9", INNGEST_EVENT_KEY: "event-key", INNGEST_SIGNING_KEY: "00" });
});
afterEach(() => {
  vi.restoreAllMocks();
});

test("a run that was accepted while the executor was away is asked for again within seconds, not minutes", async () => {
  const id = await newPausedRun(await database.newAdmin());
  const send = vi.spyOn(inngest(), "send").mockRejectedValue(new Error("connect ECONNREFUSED"));
  const secondsLeft = async () => {
    const { run_at } = await db().execution.findUniqueOrThrow({ where: { id } });
    return ((run_at?.getTime() ?? 0) - Date.now()) / 1000;
  };
  const elapse = () => pool().query("UPDATE executions SET run_at = run_at - interval '11 seconds' WHERE id = $1", [id]);
  // As it is ten seconds after it was accepted, when nobody has carried it yet.
  await pool().query(
    "UPDATE executions SET status = 'pending', lease_epoch = 0, dispatch = 0, created_at = now() - interval '10 seconds', run_at = now() - interval '1 second' WHERE id = $1",
    [id],
  );
  for (let round = 1; round <= 3; round++) {
    await sweep(waitSweep, reviewSweep, executionSweep);
    expect(send).toHaveBeenCalledTimes(round);
    expect(await secondsLeft()).toBeLessThan(11);
    await elapse();
  }
  send.mockResolvedValue({ ids: [] });
  await sweep(waitSweep, reviewSweep, executionSweep);
  expect(send).toHaveBeenCalledTimes(4);
  expect(await secondsLeft()).toBeGreaterThan(40); // until a minute after its start, when it is asked for anew
});

// One that nobody has begun most likely waits for its turn there, so it is left longer.
test.each([
  ["nobody has begun", 0, 500],
  ["somebody has begun", 1, 100],
])("a process that dies while it asks again for a run that %s leaves it due soon", async (_, lease_epoch, longSeconds) => {
  const admin = await database.newAdmin();
  const execution_id = await newPausedRun(admin);
  await pool().query("UPDATE executions SET lease_epoch = $2, run_at = now() WHERE id = $1", [execution_id, lease_epoch]);
  const rowOf = () => db().execution.findUniqueOrThrow({ where: { id: execution_id } });
  const inSeconds = async () => (Number((await rowOf()).run_at) - Date.now()) / 1000;
  vi.spyOn(inngest(), "send")
    .mockResolvedValue({ ids: [] })
    .mockReturnValueOnce(new Promise(() => undefined));
  void redispatch({ execution_id, project_id: admin.project.id, dispatch: 1 });
  await until(async () => (await rowOf()).dispatch === 1);
  expect(await inSeconds()).toBeLessThan(11);
  await redispatch({ execution_id, project_id: admin.project.id, dispatch: 2 });
  expect(await inSeconds()).toBeGreaterThan(longSeconds);
});
