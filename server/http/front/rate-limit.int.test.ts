import type pg from "pg";
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createRateLimit } from "#server/http/front/rate-limit.ts";
import { newPool } from "#server/platform/db/connections.ts";
import { createTestDatabase } from "#server/testing/test-database.ts";

let database: Awaited<ReturnType<typeof createTestDatabase>>;
const pools: pg.Pool[] = [];
const countersOf = (url = database.url) => {
  const pool = newPool({ connectionString: url, max: 2, connectionTimeoutMillis: 1000, query_timeout: 1000 });
  pools.push(pool);
  return pool;
};
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await Promise.all(pools.map((pool) => pool.end()));
  await database.drop();
});

test("two processes on one database have one limit, which many requests at once do not get past", async () => {
  const both = [createRateLimit(0, 30, countersOf()), createRateLimit(0, 30, countersOf())];
  const verdicts = await Promise.all(Array.from({ length: 100 }, (_, n) => (both[n % 2] as (typeof both)[0]).count("203.0.113.1")));
  expect(verdicts.filter(({ isAllowed }) => isAllowed)).toHaveLength(30);
  for (const { isAllowed, retryAfter, headers } of verdicts) {
    expect(headers["X-RateLimit-Limit"]).toBe("30");
    if (!isAllowed) expect([headers["X-RateLimit-Remaining"], retryAfter >= 1 && retryAfter <= 5]).toEqual(["0", true]);
  }
  expect(await both[0]?.peek("203.0.113.1")).toMatchObject({ headers: { "X-RateLimit-Remaining": "0" } });
  expect(await both[1]?.count("203.0.113.2")).toMatchObject({ isAllowed: true, headers: { "X-RateLimit-Remaining": "29" } });
});

test("the burst and the minute are counted apart, and the one that is nearer to its end is told", async () => {
  const limit = createRateLimit(3, 2, countersOf());
  const tell = async () => (await limit.count("203.0.113.3")).headers;
  expect(await tell()).toMatchObject({ "X-RateLimit-Limit": "2", "X-RateLimit-Remaining": "1" });
  expect(await tell()).toMatchObject({ "X-RateLimit-Limit": "2", "X-RateLimit-Remaining": "0" });
  expect(await tell()).toMatchObject({ "X-RateLimit-Limit": "2", "Retry-After": expect.any(String) });
  // The request that was refused is not counted.
  const { rows } = await countersOf().query("SELECT cardinality(times) AS counted FROM request_windows WHERE client = '203.0.113.3'");
  expect(rows).toEqual([{ counted: 2 }]);
});

test.each(["memory", "database"])(
  "both windows slide: whichever 5 seconds one takes, no more than the limit was let in (%s)",
  async (where) => {
    const pool = where === "database" ? countersOf() : undefined;
    const client = `203.0.113.5 ${where}`;
    const limit = createRateLimit(25, 10, pool);
    const bursts: { at: number; allowed: number }[] = [];
    /** Moves what is counted into the past, as if that much time had gone by. */
    let moved = 0;
    const pass = async (ms: number) => {
      moved += ms;
      await pool?.query(
        "UPDATE request_windows SET times = ARRAY(SELECT t - $1::bigint FROM unnest(times) t ORDER BY t) WHERE client = $2",
        [ms, client],
      );
    };
    const clock = vi.spyOn(performance, "now").mockImplementation(() => Date.now() - started + moved);
    const started = Date.now();
    onTestFinished(() => clock.mockRestore());
    const ask = async (times: number) => {
      const verdicts = await Promise.all(Array.from({ length: times }, () => limit.count(client)));
      bursts.push({ at: moved, allowed: verdicts.filter(({ isAllowed }) => isAllowed).length });
      return verdicts.at(-1);
    };
    await ask(1);
    await pass(4000);
    await ask(20); // a window that began with the first request would be new a second from now
    await pass(1100);
    const refused = await ask(20);
    expect(refused).toMatchObject({ isAllowed: false, headers: { "X-RateLimit-Limit": "10", "X-RateLimit-Remaining": "0" } });
    expect(refused?.retryAfter).toBeGreaterThanOrEqual(3);
    await pass(4000);
    await ask(20);
    await pass(5100);
    await ask(20); // the minute is full by now
    await pass(46_000);
    await ask(20); // the first request of all has left it
    expect(bursts.map(({ allowed }) => allowed)).toEqual([1, 9, 1, 9, 5, 1]);
  },
);

test("while the database does not answer each process counts alone, and nobody is turned away for it", async () => {
  const limit = createRateLimit(0, 3, countersOf("postgres://nobody@127.0.0.1:1/nothing"));
  const verdicts = [];
  for (let n = 0; n < 5; n++) verdicts.push((await limit.count("203.0.113.4")).isAllowed);
  expect(verdicts).toEqual([true, true, true, false, false]);
  expect(await limit.peek("203.0.113.4")).toMatchObject({ headers: { "X-RateLimit-Remaining": "0" } });
});
