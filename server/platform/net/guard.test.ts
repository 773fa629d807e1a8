import type { LookupAddress, LookupAllOptions, lookup } from "node:dns";
import { afterEach, expect, test } from "vitest";
import { AddressRefused, checkUrl, endpointReach, guardedLookup, isReachable } from "#server/platform/net/guard.ts";
import { setSettings } from "#server/platform/settings.ts";

afterEach(() => setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE: "0", PRIVATE_NETWORKS: "" }));

test.each(["8.8.8.8", "172.32.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808"])("%s is public", (address) => {
  expect(isReachable(address, "public")).toBe(true);
});

test.each([
  "127.0.0.1",
  "127.9.9.9",
  "10.1.2.3",
  "172.16.0.1",
  "172.31.255.255",
  "192.168.1.1",
  "100.64.0.1",
  "::1",
  "fd12:3456::1",
  "::ffff:127.0.0.1",
  "::ffff:c0a8:101",
  "64:ff9b::a00:1",
  "2002:7f00:1::",
  "2606:4700::5efe:10.0.0.1",
  "2606:4700::200:5efe:127.0.0.1",
  "100:0:0:1::1",
])("%s is for installs that may use their own network", (address) => {
  expect(isReachable(address, "public")).toBe(false);
  expect(isReachable(address, "private")).toBe(true);
});

test.each([
  "0.0.0.0",
  "169.254.169.254",
  "::ffff:169.254.169.254",
  "64:ff9b::a9fe:a9fe",
  "168.63.129.16",
  "100.100.100.200",
  "fd00:ec2::254",
  "fe80::1",
  "fe80::1%eth0",
  "224.0.0.1",
  "255.255.255.255",
  "::",
  "::7f00:1",
  "ff02::1",
  "2001:db8::1",
  "192.0.0.1",
  "192.0.2.1",
  "192.88.99.1",
  "198.18.0.1",
  "198.51.100.1",
  "203.0.113.1",
  "240.0.0.1",
  "fd00:ec2::254%eth0",
  "::ffff:0:127.0.0.1",
  "64:ff9b:1::1",
  "100::1",
  "2001::1",
  "2001:1ff::1",
  "3fff::1",
  "5f00::1",
  "fec0::1",
  "2606:4700::5efe:169.254.169.254",
  "fe80::5efe:10.0.0.1",
])("%s is refused unless everything is allowed", (address) => {
  expect(isReachable(address, "public")).toBe(false);
  expect(isReachable(address, "private")).toBe(false);
  expect(isReachable(address, "any")).toBe(true);
});

test("ranges of PRIVATE_NETWORKS count as private behind a translated address too", () => {
  setSettings({ PRIVATE_NETWORKS: "93.184.216.0/24, 2606:4700::/32, 8.8.8.8" });
  for (const address of ["93.184.216.34", "::ffff:93.184.216.34", "64:ff9b::5db8:d822", "2606:4700:4700::1111", "8.8.8.8"])
    expect([address, isReachable(address, "public"), isReachable(address, "private")]).toEqual([address, false, true]);
  expect(isReachable("93.184.217.1", "public")).toBe(true);
});

test.each(["10.0.0.0/33", "example.com", "10.0.0", "1.2.3.4/24/2", "::/129"])("PRIVATE_NETWORKS refuses %s", (PRIVATE_NETWORKS) => {
  setSettings({ PRIVATE_NETWORKS });
  expect(() => isReachable("8.8.8.8", "public")).toThrow("PRIVATE_NETWORKS must be a list of ranges");
});

test.each([
  "http://127.0.0.1/",
  "http://2130706433/",
  "http://0x7f.1/",
  "http://[::1]:11434/v1",
  "http://[::ffff:10.0.0.1]/",
  "file:///etc/passwd",
])("%s is refused before any name is resolved", (address) => {
  expect(() => checkUrl(new URL(address), "public")).toThrow(AddressRefused);
});

test("a name passes the first check, whatever it means", () => {
  expect(() => checkUrl(new URL("https://models.example.com/v1"), "public")).not.toThrow();
});

/** A name server that knows one answer. */
const resolver = (...addresses: string[]) =>
  ((_: string, __: LookupAllOptions, callback: (error: null, found: LookupAddress[]) => void) =>
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(":") ? 6 : 4 })),
    )) as unknown as typeof lookup;

const resolved = (reach: "public" | "private", all: boolean, ...addresses: string[]) =>
  new Promise((resolve, reject) => {
    guardedLookup(reach, resolver(...addresses))("models.example.com", { all }, (error, found) => (error ? reject(error) : resolve(found)));
  });

test("a name that means a private address is refused when the connection is made", async () => {
  await expect(resolved("public", true, "10.0.0.7")).rejects.toThrow(
    /models\.example\.com .*is on a private or reserved network.*ALLOW_PRIVATE_NETWORK=1/,
  );
  await expect(resolved("private", true, "169.254.169.254")).rejects.toBeInstanceOf(AddressRefused);
});

/** A name server that answers every name with an error. */
const failing = (code: string) =>
  ((_: string, __: LookupAllOptions, callback: (error: Error) => void) =>
    callback(Object.assign(new Error(code), { code }))) as unknown as typeof lookup;

const errorOf = (reach: "public" | "private" | "any", resolve: typeof lookup) =>
  new Promise<Error | null>((done) => guardedLookup(reach, resolve)("models.example.com", { all: true }, done));

test.each(["public", "private"] as const)("refuses an unknown name as it refuses a name out of %s reach", async (reach) => {
  const unknown = await errorOf(reach, failing("ENOTFOUND"));
  const hidden = await errorOf(reach, resolver("169.254.169.254"));

  expect(unknown).toBeInstanceOf(AddressRefused);
  expect(unknown).toEqual(hidden);
});

test.each([
  ["any", "ENOTFOUND"],
  ["public", "EAI_AGAIN"],
] as const)("passes on an error of the name server for reach %s: %s", async (reach, code) => {
  expect(await errorOf(reach, failing(code))).toMatchObject({ code });
});

test("of a name with several addresses only those within reach are tried", async () => {
  await expect(resolved("public", true, "127.0.0.1", "93.184.216.34", "::1")).resolves.toEqual([{ address: "93.184.216.34", family: 4 }]);
  await expect(resolved("public", false, "127.0.0.1", "93.184.216.34")).resolves.toBe("93.184.216.34");
});

test("how far a configured endpoint may be follows from who allowed it, whatever the database", () => {
  for (const TREADLE_EMBEDDED_DATABASE of ["0", "1"]) {
    setSettings({ ALLOW_PRIVATE_NETWORK: "0", TREADLE_EMBEDDED_DATABASE });
    expect([endpointReach(false), endpointReach(true)]).toEqual(["public", "private"]);
    setSettings({ ALLOW_PRIVATE_NETWORK: "1" });
    expect([endpointReach(false), endpointReach(true)]).toEqual(["any", "any"]);
  }
});
