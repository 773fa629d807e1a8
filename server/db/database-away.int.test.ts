import { afterAll, beforeAll, expect, test } from "vitest";
import { db, pool } from "#server/db/client.ts";
import { isDatabaseAway } from "#server/errors.ts";
import { startTestDatabase, type TestDatabase } from "#server/testing/test-database.ts";

let database: TestDatabase;
beforeAll(async () => {
  database = await startTestDatabase();
});
afterAll(() => database.stop());

const SLEEPERS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(29)%' AND pid <> pg_backend_pid()";

test.each([
  ["the driver", () => pool().query("SELECT pg_sleep(29)")],
  ["Prisma's raw queries", () => db().$queryRawUnsafe("SELECT pg_sleep(29)::text")],
  ["Prisma's models", () => db().user.findMany({ where: { name: "waits for the lock" } })],
])("a connection that the server ends counts as a database that is away, through %s", async (way, ask) => {
  const client = await pool().connect();
  try {
    // A query on a model is held up by a lock; the others sleep.
    await client.query("BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE");
    const asked = ask().then(
      () => undefined,
      (error: unknown) => error,
    );
    const end = way === "Prisma's models" ? SLEEPERS.replace("pg_sleep(29)", '"users"') : SLEEPERS;
    let ended = 0;
    while (!ended) ended = (await client.query(end)).rowCount ?? 0;
    const error = await asked;
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseAway(error), String(error)).toBe(true);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});
