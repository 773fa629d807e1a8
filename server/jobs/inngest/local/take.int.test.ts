import type pg from "pg";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { sendHints } from "#server/jobs/inngest/local/fetch.ts";
import { createApp, startDatabase, until } from "#server/jobs/inngest/local/testing/harness.ts";

// Runs that the process which stores their event takes itself, beside the claims of its executor.

let database: Awaited<ReturnType<typeof startDatabase>>;
let pool: pg.Pool;
let app: ReturnType<typeof createApp>;

beforeAll(async () => {
  database = await startDatabase();
});
afterAll(() => database.stop());
beforeEach(() => {
  pool = database.open();
  app = createApp(pool);
});
afterEach(() => app.stop());

/**
 * Holds up claims from the next one on, before they are made; or, of those that have leased something, the answers.
 * @returns how to let them through
 */
function holdClaims(what: "claims" | "answers") {
  const held = Promise.withResolvers<void>();
  const query = pool.query.bind(pool) as (...args: unknown[]) => Promise<{ rows: { id: string | null }[] }>;
  let count = 0;
  const hold = () => {
    count++;
    return held.promise;
  };
  Object.assign(pool, {
    query: async (...args: unknown[]) => {
      const isClaim = Reflect.get(Object(args[0]), "name") === "tj_claim";
      if (isClaim && what === "claims") await hold();
      const answer = await query(...args);
      if (isClaim && what === "answers" && answer.rows.some(({ id }) => id !== null)) await hold();
      return answer;
    },
  });
  return { count: () => count, letGo: () => held.resolve() };
}

test("claims and runs that are taken at once share the places of the process", async () => {
  let running = 0;
  let most = 0;
  const go = Promise.withResolvers<void>();
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }] }, async () => {
    most = Math.max(most, ++running);
    await go.promise;
    running--;
  });
  await app.start([fn], { concurrency: 4, pool });
  const claims = holdClaims("answers");
  await app.client.send(Array.from({ length: 4 }, () => ({ name: app.name("go"), data: {} })));
  await until(() => claims.count() > 0);
  for (let n = 0; n < 4; n++) await sendHints([{ name: app.name("go"), data: {} }], pool);
  claims.letGo();
  await until(() => running >= 4);
  await until(async () => (await app.runs()).filter(({ owner }) => owner !== null).length >= 4);
  go.resolve();
  await until(async () => {
    const runs = await app.runs();
    return runs.length === 8 && runs.every(({ status }) => status === "completed");
  });
  expect(most).toBe(4);
});

test("who comes when a slot is free does not overtake those who wait for it", async () => {
  const seen: string[] = [];
  const waiting = new Map<string, () => void>();
  const fn = app.client.createFunction(
    { id: "fn", triggers: [{ event: app.name("go") }], concurrency: [{ limit: 1, key: "event.data.project" }] },
    async ({ event }) => {
      seen.push(event.data.n);
      if (event.data.n === "first") await new Promise<void>((resolve) => waiting.set(event.data.n, resolve));
    },
  );
  await app.start([fn], { pool });
  const event = (n: string) => ({ name: app.name("go"), data: { n, project: "p" } });
  await sendHints([event("first")], pool);
  await until(() => waiting.has("first"));
  for (const n of ["second", "third"]) await app.client.send(event(n));
  const blocked = async () => {
    const { rows } = await pool.query("SELECT FROM treadle_jobs.runs WHERE blocked_on IS NOT NULL");
    return rows.length;
  };
  await until(async () => (await blocked()) === 2);
  const claims = holdClaims("claims");
  waiting.get("first")?.();
  // The slot is free now, and whoever has waited longest is about to be claimed.
  await until(async () => (await blocked()) < 2);
  await sendHints([event("late")], pool);
  claims.letGo();
  await until(() => seen.length === 4);
  expect(seen).toEqual(["first", "second", "third", "late"]);
});

test("a first step that is done without the SDK: it ends the function, is remembered, or when it fails is left to the SDK", async () => {
  const bySdk: string[] = [];
  const fn = app.client.createFunction({ id: "fn", triggers: [{ event: app.name("go") }], retries: 0 }, async ({ event, step }) => {
    const first = await step.run("first", () => {
      bySdk.push(event.data.what);
      return { n: 1 };
    });
    return { first, second: await step.run("second", () => "two") };
  });
  const run = async (data: unknown) => {
    const { what } = data as { what: string };
    if (what === "fail") throw new Error("not now");
    return { result: { n: 2 }, isEnd: what === "end" };
  };
  await app.start([fn], { firstSteps: { [`${app.client.id}-fn`]: { name: "first", run } } });
  for (const what of ["end", "go on", "fail"]) await sendHints([{ name: app.name("go"), data: { what } }], pool);
  const ended = async () => (await app.runs()).filter(({ status }) => status === "completed").map(({ output }) => JSON.parse(output ?? ""));
  const outputs = await until(async () => ((await ended()).length === 3 ? ended() : undefined));
  expect(outputs).toHaveLength(3);
  expect(outputs).toEqual(expect.arrayContaining([null, { first: { n: 2 }, second: "two" }, { first: { n: 1 }, second: "two" }]));
  expect(bySdk).toEqual(["fail"]);
});
