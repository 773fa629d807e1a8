import { randomUUID } from "node:crypto";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { gunzipSync } from "node:zlib";
import { expect, onTestFinished, test } from "vitest";
import { answerApi } from "#server/http/front/api.ts";
import { createFront } from "#server/http/front/front.ts";

const doors = { RATE_LIMIT_WEB: 0, MAX_BODY_BYTES: 4 * 1024 * 1024, INNGEST_DEV: false };
const settings = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 0, RATE_LIMIT_BURST: 0, TREADLE_FRONT_TOKEN: "front-token", ...doors };
const next = (request: IncomingMessage, response: ServerResponse) =>
  void response.setHeader("content-type", "application/json").end(`"next ${request.method} ${request.url}"`);

async function start(): Promise<string> {
  const front = createFront({ handle: answerApi(next), settings });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return `http://127.0.0.1:${port}`;
}

const id = randomUUID();
const signed = { "x-service-signature": `sha256=${"0".repeat(64)}` };

test("pages, sign-in and what is not there at all are Next's", async () => {
  const url = await start();
  const ask = async (method: string, path: string) => (await fetch(`${url}${path}`, { method })).text();
  for (const [method, path] of [
    ["GET", "/"],
    ["GET", `/workflows/${id}?a=1`],
    ["POST", "/sign-in"],
    ["GET", "/api/auth/session"],
    ["POST", "/api/auth/callback/credentials"],
    ["GET", "/api/nothing"],
    ["GET", "/api/trpc"],
    ["GET", "/api/trpc/a/b"],
    ["GET", "/api/v1"],
    ["GET", "/%61pi/v1/projects"],
  ] as const)
    expect(await ask(method, path)).toBe(`"next ${method} ${path}"`);
});

test("a call without its proof is answered here, with the headers that every answer has", async () => {
  const url = await start();
  for (const path of [
    `/api/v1/webhooks/${id}`,
    `/webhooks/${id}`,
    `/api/v1/webhooks/${id}/`,
    `/api/v1/http/${id}?a=1`,
    `/api/v1/workflows/${id}/execute`,
  ]) {
    const response = await fetch(`${url}${path}`, { method: "POST", body: "{}" });
    expect([path, response.status, await response.json()]).toEqual([path, 401, expect.objectContaining({ error_code: "AUTH_REQUIRED" })]);
    expect(response.headers.get("cache-control")).toBe("no-store");
    expect(response.headers.get("x-content-type-options")).toBe("nosniff");
  }
});

test("a body over the limit is 413, whether its length is told or not", async () => {
  const url = await start();
  const big = "x".repeat(4 * 1024 * 1024 + 1);
  const told = await fetch(`${url}/api/v1/webhooks/${id}`, { method: "POST", headers: signed, body: big });
  expect(told.status).toBe(413);
  const status = await new Promise((resolve, reject) => {
    const request = httpRequest(`${url}/api/v1/webhooks/${id}`, { method: "POST", headers: signed }, ({ statusCode }) =>
      resolve(statusCode),
    );
    request.on("error", reject);
    request.write(big.slice(0, 3_000_000));
    request.end(big.slice(0, 3_000_000));
  });
  expect(status).toBe(413);
});

test("a method that a path does not take is told those that it takes", async () => {
  const url = await start();
  const allowed = async (method: string, path: string) => {
    const { status, headers } = await fetch(`${url}${path}`, { method });
    return `${status} ${headers.get("allow")}`;
  };
  expect(await allowed("POST", "/api/health")).toBe("405 GET, HEAD, OPTIONS");
  expect(await allowed("OPTIONS", "/api/health/ready")).toBe("204 GET, HEAD, OPTIONS");
  expect(await allowed("GET", `/api/v1/webhooks/${id}`)).toBe("405 POST, OPTIONS");
  expect(await allowed("OPTIONS", `/api/v1/http/${id}`)).toBe("204 GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS");
  expect(await allowed("PATCH", "/api/v1/agents")).toBe("405 GET, HEAD, POST, OPTIONS");
});

test("HEAD has the headers of GET and no body", async () => {
  const response = await fetch(`${await start()}/api/health`, { method: "HEAD" });
  expect([response.status, response.headers.get("content-type"), await response.text()]).toEqual([200, "application/json", ""]);
});

/** What comes back as it stands on the line. */
const packed = (url: string, headers: Record<string, string>) =>
  new Promise<{ encoding: string | undefined; length: number; body: Buffer }>((resolve, reject) => {
    httpRequest(url, { headers }, async (response) => {
      const body = Buffer.concat((await response.toArray()) as Buffer[]);
      resolve({ encoding: response.headers["content-encoding"], length: Number(response.headers["content-length"]), body });
    })
      .on("error", reject)
      .end();
  });

test("a long answer is compressed for whoever takes it so, a short one is not", async () => {
  const url = await start();
  const plain = await packed(`${url}/api/v1/openapi.json`, {});
  expect(plain.encoding).toBeUndefined();
  expect((await packed(`${url}/api/v1/openapi.json`, { "accept-encoding": "br, gzip;q=0" })).encoding).toBeUndefined();
  const small = await packed(`${url}/api/v1/openapi.json`, { "accept-encoding": "br, gzip" });
  expect([small.encoding, small.length]).toEqual(["gzip", small.body.length]);
  expect(gunzipSync(small.body).equals(plain.body)).toBe(true);
  expect(small.length).toBeLessThan(plain.length / 3);
  expect((await packed(`${url}/api/health`, { "accept-encoding": "gzip" })).encoding).toBeUndefined();
});

test("a name of the host that is none is told so", async () => {
  const answer = await new Promise<number | undefined>((resolve, reject) => {
    start().then(
      (url) =>
        httpRequest(`${url}/api/health`, { headers: { host: "a b" } }, ({ statusCode }) => resolve(statusCode))
          .on("error", reject)
          .end(),
      reject,
    );
  });
  expect(answer).toBe(400);
});
