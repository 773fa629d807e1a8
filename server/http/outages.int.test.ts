import { once } from "node:events";
import net from "node:net";
import { afterEach, beforeAll, expect, test } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { readiness } from "#server/http/health.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import { closeDatabase, pool } from "#server/platform/db/client.ts";
import { newClient } from "#server/platform/db/connections.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let key = "";
let direct = "";

/** A way to the database that can be interrupted: `silent` passes on nothing and ends nothing, `closed` refuses. */
const way = { mode: "open" as "open" | "silent" | "closed", sockets: new Set<net.Socket>() };

function interrupt(mode: "silent" | "closed"): void {
  way.mode = mode;
  if (mode === "closed") for (const socket of way.sockets) socket.destroy();
}

beforeAll(async () => {
  direct = settings().DATABASE_URL ?? "";
  key = (await createPlatformKey(await database.newAdmin(), { name: "CI" })).key;
  await closeDatabase();

  const { hostname, port } = new URL(direct);
  const server = net.createServer((near) => {
    if (way.mode === "closed") return near.destroy();
    way.sockets.add(near);
    const far = net.connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => way.mode === "open" && to.write(bytes));
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = new URL(direct);
  address.searchParams.delete("host");
  address.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  setSettings({ DATABASE_URL: address.href });
  return async () => {
    await closeDatabase();
    setSettings({ DATABASE_URL: direct });
    server.close();
    for (const socket of way.sockets) socket.destroy();
  };
});

afterEach(async () => {
  // Connections that were interrupted have lost what was on the way.
  for (const socket of way.sockets) socket.destroy();
  way.sockets.clear();
  way.mode = "open";
  await expect
    .poll(() =>
      pool()
        .query("SELECT 1")
        .then(
          () => true,
          () => false,
        ),
    )
    .toBe(true);
});

async function ask(method: string, path: string, body?: object) {
  const request = new Request(`http://localhost/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    ...(body && { body: JSON.stringify(body) }),
  });
  const response = await handleRest(request);
  const { error_code, detail } = (await response.json()) as { error_code?: string; detail?: string };
  return { status: response.status, retryAfter: response.headers.get("retry-after"), error_code, detail };
}

const UNAVAILABLE = { status: 503, error_code: "SERVICE_UNAVAILABLE", retryAfter: "5", detail: expect.stringContaining("Try again") };

test.each(["silent", "closed"] as const)("a request answers 503 with Retry-After while the database is %s", async (mode) => {
  expect(await ask("GET", "/workflows")).toMatchObject({ status: 200 });
  interrupt(mode);
  expect(await ask("GET", "/workflows")).toEqual(UNAVAILABLE);
});

test("requests beyond the pool answer 503 too while the database is silent", async () => {
  expect(await ask("GET", "/workflows")).toMatchObject({ status: 200 });
  interrupt("silent");
  const answers = await Promise.all(Array.from({ length: 12 }, () => ask("GET", "/workflows")));
  expect(answers).toEqual(answers.map(() => UNAVAILABLE));
});

test("requests are answered again once the database is back", async () => {
  interrupt("closed");
  expect(await ask("GET", "/workflows")).toEqual(UNAVAILABLE);
  way.mode = "open";
  await expect.poll(() => ask("GET", "/workflows")).toMatchObject({ status: 200 });
});

test.each(["silent", "closed"] as const)("readiness answers 503 while the database is %s", async (mode) => {
  expect(await (await readiness()).json()).toEqual({ status: "ready", database: "up" });
  interrupt(mode);
  const answer = await readiness();
  expect([answer.status, await answer.json()]).toEqual([503, { status: "unavailable", database: "down" }]);
});

test("readiness shows the proxy without its password", async () => {
  setSettings({ OUTGOING_PROXY: "http://ada:hunter2@proxy.company:3128" });

  const answer = await (await readiness()).json();

  expect(answer).toEqual({
    status: "ready",
    database: "up",
    proxy: { http: "http://proxy.company:3128", https: "http://proxy.company:3128" },
  });
  setSettings({ OUTGOING_PROXY: "" });
});

test("a slow statement on a database that answers is not ended", async () => {
  await expect(pool().query("SELECT pg_sleep(6)")).resolves.toMatchObject({ rowCount: 1 });
});

/** Has the database answer each new workflow as PostgreSQL does on a full disk. */
async function fillDisk(): Promise<() => Promise<void>> {
  const client = newClient({ connectionString: direct });
  await client.connect();
  await client.query(`
    CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100'; END $$;
    CREATE TRIGGER full_disk BEFORE INSERT ON workflows EXECUTE FUNCTION full_disk()`);
  return async () => {
    await client.query("DROP FUNCTION full_disk CASCADE");
    await client.end();
  };
}

test("a write on a full disk answers 507, with the reason in readiness", async () => {
  const free = await fillDisk();

  const written = await ask("POST", "/workflows", { name: "New" });

  expect(written).toMatchObject({ status: 507, error_code: "STORAGE_FULL", detail: expect.stringContaining("free space") });
  expect(await ask("GET", "/workflows")).toMatchObject({ status: 200 });
  const ready = await readiness();
  expect([ready.status, await ready.json()]).toEqual([
    200,
    { status: "degraded", database: "up", storage: expect.stringContaining("The disk is full") },
  ]);
  await free();
  expect(await ask("POST", "/workflows", { name: "New" })).toMatchObject({ status: 201 });
});
