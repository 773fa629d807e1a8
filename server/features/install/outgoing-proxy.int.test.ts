import { afterEach, expect, test } from "vitest";
import { readOutgoingProxy } from "#server/features/install/outgoing-proxy.ts";
import { setSettings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ OUTGOING_PROXY: "", NO_PROXY: "" }));

test("shows an install admin the proxy without user and password", async () => {
  const admin = await database.newInstallAdmin();
  setSettings({ OUTGOING_PROXY: "http://ada:hunter2@proxy.company:3128", NO_PROXY: ".company, 10.0.0.0/8" });

  expect(await readOutgoingProxy(admin)).toEqual({
    is_on: true,
    http: "http://proxy.company:3128",
    https: "http://proxy.company:3128",
    no_proxy: [".company", "10.0.0.0/8"],
  });
});

test("shows no NO_PROXY while no proxy is set", async () => {
  setSettings({ NO_PROXY: "10.0.0.0/8" });

  expect(await readOutgoingProxy(await database.newInstallAdmin())).toEqual({ is_on: false, http: null, https: null, no_proxy: [] });
});

test("refuses others than install admins", async () => {
  await expect(readOutgoingProxy(await database.newAdmin())).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});
