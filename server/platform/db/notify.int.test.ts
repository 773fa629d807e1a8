import { once } from "node:events";
import net from "node:net";
import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { pool } from "#server/platform/db/client.ts";
import { closeNotifications, subscribe } from "#server/platform/db/notify.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

testDatabase();

/** What stands between us and the database: `forget` lets nothing through any more on what is open, and ends nothing. */
const between = {
  forgotten: new WeakSet<net.Socket>(),
  open: new Set<net.Socket>(),
  forget() {
    for (const socket of between.open) between.forgotten.add(socket);
  },
};
let direct = "";

beforeAll(async () => {
  direct = settings().DATABASE_URL ?? "";
  await pool().query("SELECT 1"); // what the test itself asks goes the direct way
  const { hostname, port } = new URL(direct);
  const server = net.createServer((near) => {
    const far = net.connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on("data", (bytes) => !between.forgotten.has(near) && to.write(bytes));
      from.on("close", () => to.destroy());
      from.on("error", () => to.destroy());
    }
    between.open.add(near);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = new URL(direct);
  address.searchParams.delete("host");
  address.host = `127.0.0.1:${(server.address() as net.AddressInfo).port}`;
  setSettings({ DATABASE_URL: address.href });
  return () => void server.close();
});
afterAll(() => setSettings({ DATABASE_URL: direct }));

const notify = (payload: string) => pool().query("SELECT pg_notify('treadle_control', $1)", [payload]);

test("channels that are first listened to at the same time are asked for one after the other, as pg wants it", async () => {
  const warnings: string[] = [];
  const note = (warning: Error) => warnings.push(warning.message);
  process.on("warning", note);
  const stops = [await subscribe("treadle_execution", "a", () => undefined)];
  stops.push(...(await Promise.all(["a", "b", "c"].map((payload) => subscribe("treadle_control", payload, () => undefined)))));
  await new Promise((resolve) => setImmediate(resolve));
  for (const stop of stops) stop();
  await closeNotifications();
  process.off("warning", note);
  expect(warnings).toEqual([]);
});

test("a connection that has died without a word is replaced, and everybody looks again", async () => {
  const heard = vi.fn();
  const stop = await subscribe("treadle_control", "a", heard);
  await notify("a");
  await expect.poll(() => heard).toHaveBeenCalledTimes(1);
  between.forget();
  await notify("a");
  await expect.poll(() => heard, { timeout: 20_000 }).toHaveBeenCalledTimes(2);
  await notify("a");
  await expect.poll(() => heard).toHaveBeenCalledTimes(3);
  stop();
  await closeNotifications();
});
