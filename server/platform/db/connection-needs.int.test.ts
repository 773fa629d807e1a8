import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { pool } from "#server/platform/db/client.ts";
import { checkConnections, connectionsNeeded } from "#server/platform/db/connection-needs.ts";
import { newClient, newPool } from "#server/platform/db/connections.ts";
import { isDatabaseAway } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

const role = `app_${randomUUID().replaceAll("-", "")}`;
/** Address of the database for a role that may open one connection. */
let limited = "";
beforeAll(async () => {
  await pool().query(`CREATE ROLE ${role} LOGIN PASSWORD 'p' CONNECTION LIMIT 1`);
  limited = Object.assign(new URL(settings().DATABASE_URL ?? ""), { username: role, password: "p" }).href;
  return () =>
    pool()
      .query(`DROP ROLE ${role}`)
      .then(() => undefined);
});
afterEach(() => setSettings({ DATABASE_POOL: "5" }));

async function check(url: string): Promise<string> {
  const client = newClient({ connectionString: url });
  await client.connect();
  return checkConnections(client, "all").finally(() => client.end());
}

test.each([
  ["all", 14],
  ["web", 10],
  ["worker", 12],
])("a process of the role %s needs %i connections", (name, needed) => expect(connectionsNeeded(name)).toBe(needed));

test("a server with enough connections is accepted with its version", async () => {
  expect(await check(settings().DATABASE_URL ?? "")).toMatch(/^\d+\.\d+$/);
});

test("a server with too few connections is refused with the number that would do", async () => {
  setSettings({ DATABASE_POOL: "200" });
  const { rows } = await pool().query(
    "SELECT current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int AS most",
  );
  await expect(check(settings().DATABASE_URL ?? "")).rejects.toThrow(
    `This process needs 209 connections to PostgreSQL (DATABASE_POOL and 9 more), and the server allows ${rows[0].most}. Raise max_connections, or the limit of the role or the database, or set DATABASE_POOL to ${rows[0].most - 9} or less.`,
  );
});

test("the limit of the role counts", async () => {
  await expect(check(limited)).rejects.toThrow(
    /needs 14 connections .* allows 1\. Raise max_connections, or the limit of the role or the database\.$/,
  );
});

test("connections that others hold are warned of", async () => {
  const warn = vi.spyOn(log, "warn");
  setSettings({ DATABASE_POOL: "188" });
  expect(await check(settings().DATABASE_URL ?? "")).toMatch(/^\d/);
  expect(warn).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ needed: 197 }), expect.stringContaining("fewer connections free"));
  warn.mockRestore();
});

test("a query waits for a connection that the server has not free", async () => {
  const holder = newClient({ connectionString: limited });
  await holder.connect();
  const waiting = newPool({ connectionString: limited, max: 2 });
  const asked = waiting.query("SELECT 1 AS one");
  await new Promise((resolve) => setImmediate(resolve));

  await holder.end();

  expect((await asked).rows).toEqual([{ one: 1 }]);
  await waiting.end();
});

test("a query that gets no connection in time fails as in an outage", async () => {
  const holder = newClient({ connectionString: limited });
  await holder.connect();
  const waiting = newPool({ connectionString: limited, max: 2 });

  const error = await waiting.query("SELECT 1").catch((reason: unknown) => reason);

  expect([isDatabaseAway(error), String(error)]).toEqual([true, expect.stringContaining("too many connections for role")]);
  await Promise.all([holder.end(), waiting.end()]);
});
