import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { networkInterfaces } from "node:os";
import { text } from "node:stream/consumers";
import { expect, onTestFinished, test } from "vitest";
import { createFront, type FrontOptions } from "#server/http/front/front.ts";

// What the front keeps out of the doors beside the API's.

const off = {
  TRUST_PROXY: false,
  RATE_LIMIT_PER_MINUTE: 0,
  RATE_LIMIT_BURST: 0,
  RATE_LIMIT_WEB: 0,
  MAX_BODY_BYTES: 4 * 1024 * 1024,
  INNGEST_DEV: false,
  TREADLE_FRONT_TOKEN: "front-token",
};
const fine = (_: IncomingMessage, response: ServerResponse) => void response.end("{}");

async function start(settings: Partial<FrontOptions["settings"]> = {}, handle: FrontOptions["handle"] = fine, host = "127.0.0.1") {
  const front = createFront({ handle, settings: { ...off, ...settings } });
  const port = await front.listen(0, host);
  onTestFinished(() => front.drain(0));
  return port;
}

interface Answer {
  status: number;
  headers: IncomingMessage["headers"];
  body: string;
}

/** Sends the path and the headers as they are given. */
const ask = (port: number, path: string, headers: Record<string, string> = {}, method = "GET", host = "127.0.0.1"): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = httpRequest({ port, host, path, headers, method, agent: false }, async (response) =>
      resolve({ status: response.statusCode ?? 0, headers: response.headers, body: await text(response) }),
    );
    sent.once("error", reject).end();
  });

test("with INNGEST_DEV only this machine may call what nothing is signed for, and nobody by way of a proxy", async () => {
  const port = await start({ INNGEST_DEV: true, TRUST_PROXY: true });
  const call = async (headers: Record<string, string> = {}, path = "/api/inngest?fnId=x", host = "127.0.0.1") =>
    (await ask(port, path, headers, "POST", host)).status;
  expect(await call()).toBe(200);
  for (const headers of [{ "x-forwarded-for": "127.0.0.1" }, { forwarded: "for=127.0.0.1" }, { via: "1.1 proxy" }, { "x-real-ip": "::1" }])
    expect(await call(headers)).toBe(403);
  for (const origin of ["https://evil.example", "null"]) expect(await call({ origin, "content-type": "text/plain" })).toBe(403);
  for (const path of ["/api//inngest", "/%61pi/inngest", "/x/../api/inngest/"]) expect(await call({ via: "x" }, path)).toBe(403);
  const refused = await ask(port, "/api/inngest", { via: "x" }, "PUT");
  expect(JSON.parse(refused.body)).toMatchObject({
    error_code: "PERMISSION_DENIED",
    detail: expect.stringContaining("INNGEST_SIGNING_KEY"),
  });
  const signed = await start({ TRUST_PROXY: true });
  expect((await ask(signed, "/api/inngest", { via: "x" }, "POST")).status).toBe(200);
});

const outside = Object.values(networkInterfaces())
  .flat()
  .find((known) => known?.family === "IPv4" && !known.internal)?.address;

test.runIf(outside)("with INNGEST_DEV a call to another address of this machine is not from this machine", async () => {
  const port = await start({ INNGEST_DEV: true }, fine, "0.0.0.0");
  expect((await ask(port, "/api/inngest", {}, "POST", outside)).status).toBe(403);
  expect((await ask(port, "/api/inngest", {}, "POST")).status).toBe(200);
});

test("pages, their calls and sign-in have limits for each address, of which files and liveness spend nothing", async () => {
  const port = await start({ RATE_LIMIT_WEB: 30 });
  const statuses = async (path: string, times: number) => {
    const seen = [];
    for (let n = 0; n < times; n++) seen.push((await ask(port, path)).status);
    return seen;
  };
  expect(await statuses("/api/auth/csrf", 4)).toEqual([200, 200, 200, 429]);
  expect(await statuses("/api/health", 40)).not.toContain(429);
  expect(await statuses("/_next/static/x.js", 40)).not.toContain(429);
  expect(await statuses("/api/trpc/a.b,c.d,e.f?batch=1", 9)).not.toContain(429); // 27 calls
  expect(await statuses("/workflows", 2)).toEqual([200, 200]);
  expect(await ask(port, "/workflows")).toMatchObject({ status: 200 });
  const { status, headers, body } = await ask(port, "/api/trpc/a.b,c.d");
  expect([status, JSON.parse(body).error_code, Number(headers["retry-after"]) > 0]).toEqual([429, "RATE_LIMIT_EXCEEDED", true]);
  expect((await ask(port, "/api/v1/agents")).status).toBe(200);
  for (let n = 0; n < 2; n++) await ask(port, "/api/v1/bridge/x");
  expect((await ask(port, "/api/v1/bridge/x")).status).toBe(429);
});

test("an answer that tells of another limit keeps what it tells", async () => {
  const port = await start({ RATE_LIMIT_PER_MINUTE: 10 }, (_, response) => {
    response.appendHeader("x-ratelimit-limit", "100").appendHeader("x-ratelimit-remaining", "0");
    response.writeHead(429, { "content-type": "application/json" }).end("{}");
  });
  const { headers } = await ask(port, "/api/v1/agents");
  expect([headers["x-ratelimit-limit"], headers["x-ratelimit-remaining"]]).toEqual(["100", "0"]);
});
