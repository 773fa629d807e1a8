import { expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

const isEnded = async (what: string): Promise<boolean> => {
  const end =
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND strpos(query, $1) > 0 AND state = 'active' AND pid <> pg_backend_pid()";
  return Boolean((await pool().query(end, [what])).rowCount);
};

test.each([
  ["the driver", "pg_sleep(29)", () => pool().query("SELECT pg_sleep(29)")],
  ["Prisma's raw queries", "pg_sleep(28)", () => db().$queryRawUnsafe("SELECT pg_sleep(28)::text")],
  ["Prisma's models", '"users"', () => db().user.findMany()],
])("a connection that the server ends counts as a database that is away, through %s", async (_, text, ask) => {
  const client = await pool().connect();
  try {
    await client.query("BEGIN; LOCK TABLE users IN ACCESS EXCLUSIVE MODE"); // holds up the query on the model
    const asked = ask().then(
      () => undefined,
      (error: unknown) => error,
    );
    await until(() => isEnded(text));
    const error = await asked;
    expect(error).toBeInstanceOf(Error);
    expect(isDatabaseAway(error), String(error)).toBe(true);
  } finally {
    await client.query("ROLLBACK");
    client.release();
  }
});
