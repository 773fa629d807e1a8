import { type APIRequestContext, type APIResponse, expect, test } from "@playwright/test";
import { newHost, stranger } from "#e2e/api/people.ts";

let api: APIRequestContext;
let browser: APIRequestContext;
let anyone: APIRequestContext;

test.beforeAll(async () => {
  ({ api, browser } = await newHost());
  anyone = await stranger();
});

async function expectError(answer: APIResponse, status: number, error_code: string) {
  const body = await answer.json();
  expect(answer.status()).toBe(status);
  expect(body).toEqual({ detail: expect.any(String), error_code, status, ...(body.errors && { errors: expect.any(Array) }) });
  expect(answer.headers()["cache-control"]).toContain("no-store");
  return body;
}

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
  const post = (data: string | Buffer, type = "application/json") =>
    api.post("/api/v1/projects", { data, headers: { "content-type": type } });
  await expectError(await post(Buffer.from("{x")), 400, "BAD_REQUEST");
  await expectError(await post(Buffer.from("name=x"), "application/x-www-form-urlencoded"), 400, "BAD_REQUEST");
  await expectError(await post(Buffer.from("[]")), 422, "VALIDATION_ERROR");
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
  await expectError(await anyone.get("/api/v1/bridge/nothing"), 401, "AUTH_REQUIRED");
  await expectError(await api.get("/api/v1/bridge/nothing"), 403, "PERMISSION_DENIED");
  await expectError(await browser.get("/api/v1/bridge/nothing"), 404, "NOT_FOUND");
  expect((await api.get("/api/trpc/identity.profile?input=%7B%7D")).status()).toBe(403);
});

test("lists are envelopes, newest first", async () => {
  const made = [];
  for (const name of ["First", "Second"]) made.push((await (await api.post("/api/v1/platform-keys", { data: { name } })).json()).id);
  const page = await (await api.get("/api/v1/platform-keys?per_page=2")).json();
  expect(page).toEqual({ items: expect.any(Array), total: expect.any(Number), page: 1, per_page: 2 });
  expect(page.items.map((key: { id: string }) => key.id)).toEqual(made.reverse());
});
