import { expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { pool } from "#server/platform/db/client.ts";
import { newClient, newPool } from "#server/platform/db/connections.ts";
import { settings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

// An error event that nobody listens to is an uncaught exception, which fails the test.

const WHO = "SELECT pg_backend_pid() AS pid";
/** As the server does when somebody stops it, or when a router on the way has forgotten the connection. */
const end = (pid: number) => pool().query("SELECT pg_terminate_backend($1)", [pid]);

test("a connection that the server ends while it does nothing fails the next statement, not the process", async () => {
  const client = newClient({ connectionString: settings().DATABASE_URL });
  await client.connect();
  const ended = new Promise((resolve) => client.once("end", resolve));
  await end((await client.query(WHO)).rows[0].pid);
  await ended;
  await expect(client.query(WHO)).rejects.toThrow(/not queryable|terminated/);
});

test("a pool opens another in place of an idle connection that the server ended", async () => {
  const idle = newPool({ connectionString: settings().DATABASE_URL, max: 1 });
  const { pid } = (await idle.query(WHO)).rows[0];
  await end(pid);
  await until(() => idle.totalCount === 0);
  expect((await idle.query(WHO)).rows[0].pid).not.toBe(pid);
  await idle.end();
});

test("a connection that the server ends while it is lent fails what its borrower asks next", async () => {
  const lending = newPool({ connectionString: settings().DATABASE_URL, max: 1 });
  const lent = await lending.connect();
  const ended = new Promise((resolve) => lent.once("end", resolve));
  await end((await lent.query(WHO)).rows[0].pid);
  await ended;
  await expect(lent.query(WHO)).rejects.toThrow(/not queryable|terminated/);
  lent.release(true);
  await lending.end();
});
