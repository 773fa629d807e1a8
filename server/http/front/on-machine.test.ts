import { once } from "node:events";
import { connect } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createFront, type FrontOptions } from "#server/http/front/front.ts";
import { isLoopback } from "#server/http/front/on-machine.ts";

/** Whether the app behind the front is told that somebody at the machine asks. */
async function isOnMachine(
  headers: Record<string, string>,
  settings: Partial<FrontOptions["settings"]> = {},
  version = "1.1",
): Promise<unknown> {
  let told: unknown;
  const front = createFront({
    handle: (request, response) => {
      told = request.headers["x-treadle-on-machine"];
      response.end();
    },
    settings: {
      TRUST_PROXY: false,
      RATE_LIMIT_PER_MINUTE: 0,
      RATE_LIMIT_BURST: 0,
      RATE_LIMIT_WEB: 0,
      MAX_BODY_BYTES: 1000,
      INNGEST_DEV: false,
      TREADLE_FRONT_TOKEN: "front-token",
      ...settings,
    },
  });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  // Unlike fetch it sends any Host, and any version.
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const socket = connect(port, "127.0.0.1").end(`GET / HTTP/${version}\r\n${lines.join("")}connection: close\r\n\r\n`);
  await once(socket.resume(), "close");
  return told;
}

test("somebody at the machine is who asks it by a name of its own, and nobody whom a proxy may have let through", async () => {
  for (const host of ["localhost:3000", "LOCALHOST", "127.0.0.1:3000", "[::1]:3000", "treadle.localhost"])
    expect([host, await isOnMachine({ host })]).toEqual([host, "1"]);
  const forgedMark = { "x-treadle-on-machine": "1" };
  // A name that an attacker's site has made to point here.
  for (const host of ["evil.example:3000", "10.0.0.5:3000", "localhost.evil.example", "127.0.0.1.evil.example", "0.0.0.0:3000"])
    expect([host, await isOnMachine({ host, ...forgedMark })]).toEqual([host, "0"]);
  const host = "localhost:3000";
  for (const name of ["x-forwarded-for", "x-forwarded-proto", "x-real-ip", "forwarded", "via", "cf-connecting-ip"])
    expect([name, await isOnMachine({ host, [name]: "127.0.0.1", ...forgedMark })]).toEqual([name, "0"]);
  // nginx with nothing but an address to pass on to.
  expect(await isOnMachine({ host }, {}, "1.0")).toBe("0");
  expect(await isOnMachine({ host }, { TRUST_PROXY: true })).toBe("0");
  expect(await isOnMachine({ host }, { APP_URL: "https://flows.example.com" })).toBe("0");
  expect(await isOnMachine({ host }, { APP_URL: "http://localhost:3000" })).toBe("1");
});

test.each(["localhost", "a.localhost", "localhost.", "127.0.0.1", "127.9.9.9", "::1", "[::1]", "0:0:0:0:0:0:0:1", "::ffff:127.0.0.1"])(
  "%s is this machine",
  (host) => {
    expect(isLoopback(host)).toBe(true);
  },
);

test.each(["", "unknown", "0.0.0.0", "::", "10.0.0.1", "::2", "1::1", "127.0.0.1.example", "xlocalhost", "::ffff:10.0.0.1"])(
  "%s is not this machine",
  (host) => {
    expect(isLoopback(host)).toBe(false);
  },
);
