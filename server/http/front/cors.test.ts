import type { IncomingMessage, ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { createFront, type FrontOptions } from "#server/http/front/front.ts";

const ORIGIN = "https://app.example.com";
const base = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 10, RATE_LIMIT_BURST: 0, RATE_LIMIT_WEB: 0, INNGEST_DEV: false };

/** An app that answers what it was sent. */
const echo = ({ headers, method }: IncomingMessage, response: ServerResponse) =>
  void response.setHeader("content-type", "application/json").end(JSON.stringify({ method, cookie: headers.cookie ?? null }));

async function start(settings: Partial<FrontOptions["settings"]> = { CORS_ORIGINS: ["https://other.example", ORIGIN] }) {
  const front = createFront({ handle: echo, settings: { ...base, MAX_BODY_BYTES: 1024, TREADLE_FRONT_TOKEN: "t", ...settings } });
  const url = `http://127.0.0.1:${await front.listen(0, "127.0.0.1")}`;
  onTestFinished(() => front.drain(0));
  return (path: string, headers: Record<string, string> = {}, method = "GET") => fetch(`${url}${path}`, { method, headers });
}

const preflight = { origin: ORIGIN, "access-control-request-method": "POST", "access-control-request-headers": "authorization" };

test("answers the preflight request of a listed origin", async () => {
  const ask = await start();

  const { status, headers } = await ask("/api/v1/workflows", preflight, "OPTIONS");

  expect([status, headers.get("access-control-allow-origin"), headers.get("vary")]).toEqual([204, ORIGIN, "Origin"]);
  expect(headers.get("access-control-allow-methods")?.split(", ")).toEqual(expect.arrayContaining(["POST", "DELETE"]));
  expect(headers.get("access-control-allow-headers")).toMatch(/Authorization.*Idempotency-Key.*X-Project-Slug/);
  expect(headers.has("access-control-allow-credentials")).toBe(false);
});

test("counts no preflight request against the limits", async () => {
  const ask = await start();
  await ask("/api/v1/workflows", preflight, "OPTIONS");

  const { headers } = await ask("/api/v1/workflows", { origin: ORIGIN });

  expect(headers.get("x-ratelimit-remaining")).toBe("9");
});

test("lets a listed origin read responses with their limits", async () => {
  const ask = await start();

  const { headers } = await ask("/api/v1/workflows", { origin: ORIGIN });

  expect(headers.get("access-control-allow-origin")).toBe(ORIGIN);
  expect(headers.get("access-control-expose-headers")).toContain("X-RateLimit-Remaining");
  expect(headers.has("access-control-allow-credentials")).toBe(false);
});

test("lets a listed origin read an error of the front", async () => {
  const ask = await start({ CORS_ORIGINS: [ORIGIN], RATE_LIMIT_PER_MINUTE: 1 });
  await ask("/api/v1/workflows", { origin: ORIGIN });

  const { status, headers } = await ask("/api/v1/workflows", { origin: ORIGIN });

  expect([status, headers.get("access-control-allow-origin")]).toEqual([429, ORIGIN]);
});

test("ignores the cookies of a cross-origin request", async () => {
  const ask = await start();
  const cookieOf = async (headers: Record<string, string>) =>
    ((await (await ask("/api/v1/workflows", { cookie: "session=1", ...headers })).json()) as { cookie: string | null }).cookie;

  expect(await cookieOf({ origin: ORIGIN })).toBeNull();
  expect(await cookieOf({})).toBe("session=1");
});

test.each([
  ["an origin that is not listed", "/api/v1/workflows", "https://app.example.com.evil.example"],
  ["the opaque origin", "/api/v1/workflows", "null"],
  ["paths of the web app's session", "/api/v1/bridge/threads", ORIGIN],
  ["calls of the web app", "/api/trpc/projects.list", ORIGIN],
  ["pages", "/sign-in", ORIGIN],
])("allows nothing for %s", async (_, path, origin) => {
  const ask = await start();

  for (const method of ["GET", "OPTIONS"]) {
    const { headers } = await ask(path, { ...preflight, origin }, method);
    expect([...headers.keys()].filter((name) => name.startsWith("access-control-"))).toEqual([]);
  }
});

test("allows no origin unless one is set", async () => {
  const ask = await start({});

  const { headers } = await ask("/api/v1/workflows", preflight, "OPTIONS");

  expect(headers.has("access-control-allow-origin")).toBe(false);
});

test("keeps the cookies of requests from its own origin", async () => {
  const ask = await start({ APP_URL: ORIGIN, CORS_ORIGINS: [ORIGIN] });

  const answer = await ask("/api/v1/workflows", { origin: ORIGIN, cookie: "session=1" });

  expect(await answer.json()).toMatchObject({ cookie: "session=1" });
});
