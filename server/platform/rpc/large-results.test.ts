import { expect, test } from "vitest";
import { createCallerFactory, publicProcedure, router } from "#server/platform/rpc/trpc.ts";

/** Callers of a procedure with a large result, which counts how many of it run at once. */
function callers() {
  const running = { now: 0, most: 0 };
  const ends: (() => void)[] = [];
  const api = router({
    read: publicProcedure.meta({ isLarge: true }).query(async () => {
      running.now++;
      running.most = Math.max(running.most, running.now);
      await new Promise<void>((resolve) => ends.push(resolve));
      running.now--;
    }),
  });
  const callerAt = (address: string) =>
    createCallerFactory(api)({
      principal: null,
      address,
      isOnThisMachine: false,
      project: () => Promise.reject(new Error("There is no project.")),
    });
  return { running, ends, callerAt };
}

test("makes two large results at once for one caller", async () => {
  const { running, ends, callerAt } = callers();
  const calls = Array.from({ length: 6 }, () => callerAt("10.0.0.1").read());

  for (let ended = 0; ended < 6; ended++) {
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    ends.shift()?.();
  }

  await Promise.all(calls);
  expect(running.most).toBe(2);
});

test("makes a large result of one caller while another has as many as it may", async () => {
  const { running, ends, callerAt } = callers();
  const calls = Array.from({ length: 3 }, () => callerAt("10.0.0.2").read());
  calls.push(callerAt("10.0.0.3").read());

  await expect.poll(() => running.now).toBe(3);

  for (let ended = 0; ended < 4; ended++) {
    await expect.poll(() => ends.length).toBeGreaterThan(0);
    ends.shift()?.();
  }
  await Promise.all(calls);
});
