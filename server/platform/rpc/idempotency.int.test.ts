import { beforeAll, expect, test } from "vitest";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import {
  answerOnce,
  claimKey,
  freeHolds,
  type KeyedRequest,
  renewHold,
  runIdOfRequest,
  tidyKeys,
} from "#server/platform/rpc/idempotency.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let ada: ProjectPrincipal;
beforeAll(async () => {
  ada = await database.newAdmin();
});

const request = (fields: Partial<KeyedRequest>): KeyedRequest => ({
  user_id: ada.user.id,
  project_id: ada.project.id,
  operation: "POST /things",
  key: "one",
  request_hash: "hash",
  ...fields,
});
/** A piece of work that counts how often it was done. */
function work(status = 201, body = '{"secret":"only here"}') {
  const counter = { times: 0 };
  return { counter, run: async () => ({ status, body: body.replace("here", `here ${++counter.times}`) }) };
}
const passes = (condition: string) => pool().query(`UPDATE idempotency_keys SET ${condition}`);

test("of twenty at once one does the work, and all who ask later get its answer", async () => {
  const { counter, run } = work();
  const asked = request({ key: "twenty" });
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, () => answerOnce(asked, run)));
  expect(counter.times).toBe(1);
  for (const outcome of outcomes) {
    if (outcome.status === "fulfilled") expect(outcome.value).toMatchObject({ status: 201, body: '{"secret":"only here 1"}' });
    else expect(outcome.reason).toMatchObject({ code: "CONFLICT", retryAfter: 1 });
  }
  expect(await answerOnce(asked, run)).toEqual({ status: 201, body: '{"secret":"only here 1"}', isReplayed: true });
});

test("another body is refused; another operation, project or user has keys of its own", async () => {
  const { counter, run } = work();
  const eve = await database.newAdmin();
  await answerOnce(request({}), run);
  await expect(answerOnce(request({ request_hash: "other" }), run)).rejects.toMatchObject({ code: "CONFLICT", retryAfter: undefined });
  for (const fields of [{ operation: "POST /others" }, { project_id: eve.project.id }, { project_id: null }, { user_id: eve.user.id }])
    expect(await answerOnce(request(fields), run)).toMatchObject({ isReplayed: false });
  expect(counter.times).toBe(5);
});

test.each([500, 502, 429, 401, 403])("an answer %i is not kept", async (status) => {
  const { counter, run } = work(status);
  const asked = request({ key: `not-${status}` });
  expect(await answerOnce(asked, run)).toMatchObject({ status, isReplayed: false });
  expect(await answerOnce(asked, run)).toMatchObject({ status, isReplayed: false });
  expect(counter.times).toBe(2);
});

test.each([404, 409, 422])("an answer %i is kept", async (status) => {
  const { counter, run } = work(status);
  const asked = request({ key: `kept-${status}` });
  const first = await answerOnce(asked, run);
  expect(await answerOnce(asked, run)).toEqual({ ...first, isReplayed: true });
  expect(counter.times).toBe(1);
});

test("work that throws leaves the key free, also for another body", async () => {
  const { run } = work();
  await expect(answerOnce(request({ key: "thrown" }), () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await answerOnce(request({ key: "thrown", request_hash: "other" }), run)).toMatchObject({ status: 201 });
});

test("a try that failed leaves its run to the same request, which may have started after all, and to no other", async () => {
  const asked = request({ key: "failed run" });
  const runs: (string | undefined)[] = [];
  const failing = async () => {
    runs.push(runIdOfRequest());
    return { status: 500, body: "" };
  };
  await answerOnce(asked, failing);
  await answerOnce(asked, failing);
  await answerOnce({ ...asked, request_hash: "other" }, failing);
  expect(runs[0]).toBeDefined();
  expect(runs[1]).toBe(runs[0]);
  expect(runs[2]).not.toBe(runs[0]);
});

test("a try that died leaves the key to the same request, and to no other", async () => {
  const asked = request({ key: "dead" });
  const dead = await claimKey(asked);
  expect(dead.kind).toBe("held");
  expect(await claimKey(asked)).toEqual({ kind: "under_way" });
  await passes("held_until = now() - interval '1 second' WHERE status IS NULL");
  expect(await claimKey({ ...asked, request_hash: "other" })).toEqual({ kind: "other_request" });
  const { counter, run } = work();
  await Promise.allSettled(Array.from({ length: 10 }, () => answerOnce(asked, run)));
  expect(counter.times).toBe(1);
  expect((await answerOnce(asked, run)).isReplayed).toBe(true);
});

test("the only process on its database frees at its start what a dead one held, for the same request", async () => {
  const asked = request({ key: "alone" });
  const dead = await claimKey(asked);
  await freeHolds();
  expect(await claimKey({ ...asked, request_hash: "other" })).toEqual({ kind: "other_request" });
  const next = await claimKey(asked);
  expect(next).toMatchObject({ kind: "held", held: { run_id: dead.kind === "held" && dead.held.run_id } });
  const { run } = work();
  const done = request({ key: "done" });
  const answer = await answerOnce(done, run);
  await freeHolds();
  expect(await answerOnce(done, run)).toEqual({ ...answer, isReplayed: true });
});

test("a try that comes back after another took its place changes nothing", async () => {
  const asked = request({ key: "late" });
  const { counter, run } = work();
  const late = await answerOnce(asked, async () => {
    await passes("held_until = now() - interval '1 second' WHERE status IS NULL");
    await answerOnce(asked, run);
    return { status: 200, body: "late" };
  });
  expect(late.body).toBe("late");
  expect(await answerOnce(asked, run)).toMatchObject({ status: 201, isReplayed: true });
  expect(counter.times).toBe(1);
});

test("a hold that is renewed lasts", async () => {
  const asked = request({ key: "long" });
  const claim = await claimKey(asked);
  if (claim.kind !== "held") throw new Error("The key is new.");
  await passes("held_until = now() - interval '1 second' WHERE status IS NULL");
  await renewHold(claim.held);
  expect(await claimKey(asked)).toEqual({ kind: "under_way" });
});

test("after a day the key is free, and the row goes", async () => {
  const { counter, run } = work();
  const asked = request({ key: "old" });
  await answerOnce(asked, run);
  await passes("expires_at = now() + interval '1 second'");
  expect((await answerOnce(asked, run)).isReplayed).toBe(true);
  await passes("expires_at = now() - interval '1 second'");
  expect(await answerOnce({ ...asked, request_hash: "other" }, run)).toMatchObject({ body: '{"secret":"only here 2"}', isReplayed: false });
  expect(counter.times).toBe(2);
  await tidyKeys();
  expect(await db().idempotencyKey.count()).toBe(1);
});

test("nothing of an answer is stored in clear", async () => {
  await answerOnce(request({ key: "sealed" }), work().run);
  const rows = await db().idempotencyKey.findMany();
  expect(rows.length).toBeGreaterThan(0);
  for (const row of rows) expect(JSON.stringify(row)).not.toMatch(/only here|sealed"/);
});

test("a project that was deleted a moment ago is not found", async () => {
  const missing = request({ project_id: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" });
  await expect(answerOnce(missing, work().run)).rejects.toMatchObject({ code: "NOT_FOUND" });
});
