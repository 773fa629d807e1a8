import { connect } from "node:net";
import { text } from "node:stream/consumers";
import type { APIRequestContext, APIResponse } from "@playwright/test";
import { newHost, stranger } from "#e2e/api/people.ts";
import { expect, test } from "#e2e/fixtures.ts";

const base = new URL(process.env.BASE_URL ?? "http://localhost");

let api: APIRequestContext;
let browser: APIRequestContext;
let anyone: APIRequestContext;
let key: string;

test.beforeAll(async () => {
  ({ api, browser, key } = await newHost());
  anyone = await stranger();
});

async function expectError(answer: APIResponse, status: number, error_code: string) {
  const body = await answer.json();
  expect(answer.status()).toBe(status);
  expect(body).toEqual({ detail: expect.any(String), error_code, status, ...(body.errors && { errors: expect.any(Array) }) });
  expect(answer.headers()["cache-control"]).toContain("no-store");
  return body;
}

interface RawAnswer {
  status: number;
  headers: Record<string, string>;
  body: string;
}

/** What comes back for lines and a body as they are written, which no HTTP client would send so. */
async function raw(request: string, body = "", headers: string[] = []): Promise<RawAnswer> {
  const socket = connect(Number(base.port), base.hostname);
  const lines = [request, `Host: ${base.host}`, "Connection: close", `Authorization: Bearer ${key}`, ...headers];
  socket.write(`${lines.join("\r\n")}\r\n\r\n${body}`);
  const [head = "", ...rest] = (await text(socket)).split("\r\n\r\n");
  const [first = "", ...told] = head.split("\r\n");
  const pairs = told.map((line) => [line.slice(0, line.indexOf(":")).toLowerCase(), line.slice(line.indexOf(":") + 1).trim()]);
  return { status: Number(first.split(" ")[1]), headers: Object.fromEntries(pairs), body: rest.join("\r\n\r\n") };
}

function expectRawError(answer: RawAnswer, status: number, error_code: string): void {
  const { body, headers } = answer;
  expect([answer.status, headers["content-type"]], body).toEqual([status, "application/json"]);
  expect(JSON.parse(body.slice(body.indexOf("{"), body.lastIndexOf("}") + 1))).toMatchObject({
    error_code,
    status,
    detail: expect.any(String),
  });
  expect(headers["cache-control"]).toContain("no-store");
}

const post = (data: string | Buffer, path = "/projects", type = "application/json") =>
  api.post(`/api/v1${path}`, { data: Buffer.from(data), headers: { "content-type": type } });

test("health needs nobody", async () => {
  expect(await (await anyone.get("/api/health")).json()).toEqual({ status: "ok" });
  expect(await (await anyone.get("/api/health/ready")).json()).toEqual({ status: "ready", database: "up" });
});

test("the API document is there for anybody and describes what can be called", async () => {
  const document = await (await anyone.get("/api/v1/openapi.json")).json();
  expect(document.openapi).toMatch(/^3\.1/);
  for (const [path, method] of [
    ["/auth/me", "get"],
    ["/workflows/{workflow_id}/execute", "post"],
    ["/executions/{execution_id}/stream", "get"],
    ["/projects/{project_id}/members", "delete"],
  ] as const) {
    expect(document.paths[path], path).toHaveProperty(method);
  }
  for (const [path, item] of Object.entries<Record<string, { security: unknown[] }>>(document.paths)) {
    if (path.includes("{") || !item.get?.security.length) continue;
    expect((await anyone.get(`/api/v1${path}`)).status(), path).toBe(401);
  }
});

test("what is not there is 404, a wrong method 405 with the right ones", async () => {
  await expectError(await api.get("/api/v1/nothing"), 404, "NOT_FOUND");
  const answer = await api.fetch("/api/v1/agents", { method: "PATCH" });
  await expectError(answer, 405, "METHOD_NOT_ALLOWED");
  expect(answer.headers().allow).toBe("GET, HEAD, POST, OPTIONS");
});

test("HEAD is GET without the body", async () => {
  const answer = await api.head("/api/v1/projects");
  expect([answer.status(), await answer.text()]).toEqual([200, ""]);
});

test("bodies: malformed, not an object, not JSON, too large, unknown field", async () => {
  await expectError(await post("{x"), 400, "BAD_REQUEST");
  await expectError(await post("name=x", "/projects", "application/x-www-form-urlencoded"), 400, "BAD_REQUEST");
  await expectError(await post(Buffer.from('{"name":"\xff"}', "latin1")), 400, "BAD_REQUEST");
  await expectError(await post("[]"), 422, "VALIDATION_ERROR");
  await expectError(await post(Buffer.alloc(5_000_000, " ")), 413, "PAYLOAD_TOO_LARGE");
  const { errors } = await expectError(await post(JSON.stringify({ nmae: "x" })), 422, "VALIDATION_ERROR");
  expect(errors).toContainEqual({ path: "nmae", message: "There is no such field." });
  expect(errors).toContainEqual({ path: "name", message: "This field is required." });
});

test("queries: out of bounds, misspelled, of the wrong kind", async () => {
  for (const [query, path] of [
    ["per_page=201", "per_page"],
    ["page=0", "page"],
    ["per_page=ten", "per_page"],
    ["perpage=10", "perpage"],
    ["page=1&page=2", "page"],
  ] as const) {
    const { errors } = await expectError(await api.get(`/api/v1/projects?${query}`), 422, "VALIDATION_ERROR");
    expect(errors.map((error: { path: string }) => error.path)).toEqual([path]);
  }
});

test("a schema does not change its mind after a REST call", async () => {
  expect((await api.get("/api/v1/projects?page=1&per_page=5")).status()).toBe(200);
  const input = encodeURIComponent(JSON.stringify({ page: "1", per_page: "5" }));
  expect((await browser.get(`/api/trpc/projects.list?input=${input}`)).status()).toBe(422);
});

test("an id of the wrong form is simply not found", async () => {
  for (const id of ["nonsense", "1", "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a1", "%00"]) {
    await expectError(await api.get(`/api/v1/projects/${id}`), 404, "NOT_FOUND");
    expect((await api.delete(`/api/v1/platform-keys/${id}`)).status()).toBe(404);
  }
});

test("the assistant's interface is closed to keys", async () => {
  test.slow();
  await expectError(await anyone.get("/api/v1/bridge/nothing"), 401, "AUTH_REQUIRED");
  await expectError(await browser.get("/api/v1/bridge/nothing"), 404, "NOT_FOUND");
  for (const path of ["", "/nothing", "/threads/1/messages", "/executions/x/stream", "/agents/x/chat", "/rags/x/documents"]) {
    for (const method of ["GET", "POST", "PUT", "PATCH", "DELETE"]) {
      await expectError(await anyone.fetch(`/api/v1/bridge${path}`, { method }), 401, "AUTH_REQUIRED");
      await expectError(await api.fetch(`/api/v1/bridge${path}`, { method }), 403, "PERMISSION_DENIED");
    }
    for (const method of ["HEAD", "OPTIONS"]) {
      expect((await anyone.fetch(`/api/v1/bridge${path}`, { method })).status(), `${method} ${path}`).toBe(401);
      expect((await api.fetch(`/api/v1/bridge${path}`, { method })).status(), `${method} ${path}`).toBe(403);
    }
  }
  await expectError(await anyone.get(`/api/v1/bridge/nothing?token=${key}`), 401, "AUTH_REQUIRED");
  expect((await api.get("/api/trpc/identity.profile?input=%7B%7D")).status()).toBe(403);
});

test("lists are envelopes, newest first", async () => {
  const made = [];
  for (const name of ["First", "Second"]) made.push((await (await api.post("/api/v1/platform-keys", { data: { name } })).json()).id);
  const page = await (await api.get("/api/v1/platform-keys?per_page=2")).json();
  expect(page).toEqual({ items: expect.any(Array), total: expect.any(Number), page: 1, per_page: 2 });
  expect(page.items.map((key: { id: string }) => key.id)).toEqual(made.reverse());
});

test("what nobody can read is told so in the envelope: escapes, too long a path, too many headers, no HTTP", async () => {
  expectRawError(await raw("GET /api/v1/agents/%zz HTTP/1.1"), 400, "BAD_REQUEST");
  expectRawError(await raw(`GET /api/v1/agents?q=${"x".repeat(20_000)} HTTP/1.1`), 400, "BAD_REQUEST");
  expectRawError(await raw("GET /api/v1/agents HTTP/1.1", "", [`X-Long: ${"x".repeat(20_000)}`]), 400, "BAD_REQUEST");
  expectRawError(await raw("GET /api/v1/agents HTTP/1.1", "", ["Content-Length: ten"]), 400, "BAD_REQUEST");
  expectRawError(await raw("nonsense"), 400, "BAD_REQUEST");
});

test("methods that nothing here knows are 405, and OPTIONS names those of a path", async () => {
  for (const method of ["TRACE", "PROPFIND"]) expectRawError(await raw(`${method} /api/v1/agents HTTP/1.1`), 405, "METHOD_NOT_ALLOWED");
  for (const [path, allow] of [
    ["/agents", "GET, HEAD, POST, OPTIONS"],
    ["/webhooks/x", "GET, HEAD, POST, OPTIONS"],
    ["/executions/x/stream", "GET, HEAD, OPTIONS"],
    ["/openapi.json", "GET, HEAD, OPTIONS"],
  ] as const) {
    const options = await anyone.fetch(`/api/v1${path}`, { method: "OPTIONS" });
    expect([path, options.status(), options.headers().allow]).toEqual([path, 204, allow]);
    const refused = await api.fetch(`/api/v1${path}`, { method: "PATCH" });
    await expectError(refused, 405, "METHOD_NOT_ALLOWED");
    expect(refused.headers().allow).toBe(allow);
  }
});

test("other spellings of a path are the same path, and what Next's pages say to Next is not heard", async () => {
  for (const path of ["/api/v1/auth/me/", "//api/v1//auth/me", `http://${base.host}/api/v1/auth/me`])
    expect((await raw(`GET ${path} HTTP/1.1`)).status, path).toBe(200);
  expectRawError(await raw("GET /api/v1 HTTP/1.1"), 404, "NOT_FOUND");
  expect((await raw("GET /api/v1/auth/me HTTP/1.1", "", ["RSC: 1", "Next-Router-State-Tree: x", "X-Invoke-Path: /x"])).status).toBe(200);
  expect((await raw("GET /api/v1/auth/me HTTP/1.1", "", ["Upgrade: h2c", "Expect: nothing"])).status).toBe(200);
});

test("a body that is larger than it may be is refused, however its length is told", async () => {
  const chunk = `10000\r\n${" ".repeat(65_536)}\r\n`;
  const chunked = await raw("POST /api/v1/projects HTTP/1.1", `${chunk.repeat(80)}0\r\n\r\n`, ["Transfer-Encoding: chunked"]);
  expectRawError(chunked, 413, "PAYLOAD_TOO_LARGE");
  expectRawError(await raw("POST /api/v1/projects HTTP/1.1", "{}", ["Content-Length: 999999999999"]), 413, "PAYLOAD_TOO_LARGE");
  // More bytes than told are no part of it; fewer chunks than begun are no body.
  const more = await raw("POST /api/v1/projects HTTP/1.1", '{"name":"x"}', ["Content-Length: 2"]);
  expect([400, 422], more.body).toContain(more.status);
  expectRawError(await raw("POST /api/v1/projects HTTP/1.1", "zz\r\n", ["Transfer-Encoding: chunked"]), 400, "BAD_REQUEST");
});

test("keys that mean something to JavaScript or stand twice in a query are refused by name", async () => {
  const { errors } = await expectError(await post('{"name":"x","__proto__":{"slug":"y"},"constructor":{}}'), 422, "VALIDATION_ERROR");
  expect(errors.map(({ path }: { path: string }) => path)).toEqual(["__proto__", "constructor"]);
  for (const query of ["page=1&page=1", "constructor=1", "page[]=1", "toString=1"])
    await expectError(await api.get(`/api/v1/projects?${query}`), 422, "VALIDATION_ERROR");
});

test("JSON nested without end is refused before anything walks it", async () => {
  for (const body of ["[".repeat(1_000_000), `{"name":${"[".repeat(200)}${"]".repeat(200)}}`, '{"name":'.repeat(100_000)])
    await expectError(await post(body), 422, "VALIDATION_ERROR");
});

test("texts that PostgreSQL cannot keep are cleaned, wherever they stand", async () => {
  const project = await (await post('{"name":"A\\u0000 name \\ud800 \\udc00\\ud800"}')).json();
  expect(project.name).toBe("A name \ufffd \ufffd\ufffd");
  const graph = `{"name":"Odd","nodes":[{"id":"t","type":"triggerNode","position":{"x":0,"y":0},"data":{"label":"S\\u0000tart","kind":"manual"}}],"edges":[]}`;
  const headers = { "content-type": "application/json", "x-project-id": project.id };
  const workflow = await (await api.post("/api/v1/workflows", { data: Buffer.from(graph), headers })).json();
  expect(workflow.nodes[0].data.label).toBe("Start");
  for (const body of [
    '{"input":"\\u0000\\udfff"}',
    '{"params":{"a\\u0000b\\ud800":"\\u0000"}}',
    '{"params":{"a":1e400}}',
    '{"input":"x","__proto__":"\\u0000"}',
  ]) {
    const answer = await api.post(`/api/v1/workflows/${workflow.id}/execute`, { data: Buffer.from(body), headers });
    expect([202, 422], `${body}: ${await answer.text()}`).toContain(answer.status());
  }
  for (const query of ["workflow_id=%00", "status=%00", "workflow_id=%ff%fe"])
    expect([200, 422], query).toContain((await api.get(`/api/v1/executions?${query}`, { headers })).status());
  expect((await api.get("/api/v1/workflows", { headers: { "x-project-slug": "\u00ff%00" } })).status()).toBe(404);
});

test("numbers beyond all bounds are refused", async () => {
  for (const page of ["1e400", "99999999999999999999", "-1", "1.5", "0x10", "NaN", "٣"])
    await expectError(await api.get(`/api/v1/projects?page=${encodeURIComponent(page)}`), 422, "VALIDATION_ERROR");
  const far = await api.get("/api/v1/projects?page=9007199254740991&per_page=200");
  expect([200, 422], await far.text()).toContain(far.status());
});
