import { randomUUID } from "node:crypto";
import { request as httpRequest, type IncomingMessage, type ServerResponse } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { startRunsDirectly } from "#server/http/direct.ts";
import { createFront } from "#server/http/front/front.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// What a webhook's call must prove is asked of the database.
testDatabase();

const doors = { RATE_LIMIT_WEB: 0, MAX_BODY_BYTES: 4 * 1024 * 1024, INNGEST_DEV: false };
const settings = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 0, RATE_LIMIT_BURST: 0, TREADLE_FRONT_TOKEN: "front-token", ...doors };
const next = (request: IncomingMessage, response: ServerResponse) =>
  void response.setHeader("content-type", "application/json").end(`"next ${request.method} ${request.url}"`);

async function start(): Promise<string> {
  const front = createFront({ handle: startRunsDirectly(next), settings });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return `http://127.0.0.1:${port}`;
}

const id = randomUUID();
const signed = { "x-service-signature": `sha256=${"0".repeat(64)}` };

test("only what starts a run leaves Next's way; every other path and method is Next's", async () => {
  const url = await start();
  const ask = async (method: string, path: string) => (await fetch(`${url}${path}`, { method })).text();
  for (const [method, path] of [
    ["PATCH", `/api/v1/webhooks/${id}`],
    ["OPTIONS", `/api/v1/http/${id}`],
    ["POST", `/api/v1/webhooks/setup/${id}`],
    ["GET", `/api/v1/workflows/${id}/execute`],
    ["PUT", `/api/v1/workflows/${id}`],
    ["GET", `/workflows/${id}?a=1`],
    ["POST", "/api/v1/workflows"],
    ["POST", "/api/auth/callback/credentials"],
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

test("questions about the address of a webhook are answered in front of Next", async () => {
  const url = await start();
  const ask = async (method: string) => {
    const { status, headers } = await fetch(`${url}/webhooks/${id}?challenge=1`, { method });
    return [method, status, headers.get("allow"), headers.get("x-content-type-options")];
  };

  expect(await ask("GET")).toEqual(["GET", 401, null, "nosniff"]);
  expect(await ask("HEAD")).toEqual(["HEAD", 401, null, "nosniff"]);
  expect(await ask("OPTIONS")).toEqual(["OPTIONS", 204, "GET, HEAD, POST, OPTIONS", "nosniff"]);
});

test("a name of the host that is none is told so", async () => {
  const url = await start();
  const status = await new Promise((resolve, reject) => {
    const sent = httpRequest(`${url}/api/v1/webhooks/${id}`, { method: "POST", headers: { host: "a b" } }, (response) =>
      resolve(response.statusCode),
    );
    sent.on("error", reject).end();
  });
  expect(status).toBe(400);
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
