import { initTRPC } from "@trpc/server";
import { expect, test } from "vitest";
import { z } from "zod";
import { createRestHandler } from "#server/api/rest/handler.ts";
import { type ApiContext, type ApiMeta, endpoint, publicProcedure, router, userProcedure } from "#server/api/trpc.ts";
import { AppError } from "#server/errors.ts";

const tag = "Test";
const Widget = z.strictObject({ name: z.string().min(1), retries: z.number().int(), enabled: z.boolean() });
const Listing = z.strictObject({
  limit: z.number().int().max(100).default(20),
  archived: z.boolean().optional(),
  ratio: z.number().nullable().optional(),
  kind: z.union([z.number(), z.enum(["all", "none"])]).optional(),
  tags: z.array(z.string()).optional(),
  text: z.string().optional(),
});
const anything = z.unknown();

const testRouter = router({
  widgets: router({
    get: publicProcedure
      .meta(endpoint("GET", "/widgets/{widget_id}", { tag, summary: "Get" }))
      .input(z.strictObject({ widget_id: z.string() }))
      .output(anything)
      .query(({ input }) => input),
    search: publicProcedure
      .meta(endpoint("GET", "/widgets/search", { tag, summary: "Search" }))
      .input(z.strictObject({}))
      .output(anything)
      .query(() => "search"),
    list: publicProcedure
      .meta(endpoint("GET", "/widgets", { tag, summary: "List" }))
      .input(Listing)
      .output(anything)
      .query(({ input }) => input),
    create: publicProcedure
      .meta(endpoint("POST", "/widgets", { tag, summary: "Create", status: 201 }))
      .input(Widget)
      .output(Widget)
      .mutation(({ input }) => input),
    update: publicProcedure
      .meta(endpoint("PUT", "/widgets/{widget_id}", { tag, summary: "Update" }))
      .input(z.strictObject({ widget_id: z.string(), name: z.string().optional() }))
      .output(anything)
      .mutation(({ input }) => input),
    remove: publicProcedure
      .meta(endpoint("DELETE", "/widgets/{widget_id}", { tag, summary: "Delete", status: 204 }))
      .input(z.strictObject({ widget_id: z.string(), force: z.boolean().optional(), reason: z.string().optional() }))
      .output(z.void())
      .mutation(({ input }) => {
        if (input.force !== true) throw new AppError("CONFLICT", `It is in use (${input.reason ?? "no reason"}).`);
      }),
  }),
  run: publicProcedure
    .meta(endpoint("POST", "/run", { tag, summary: "Run", status: 202 }))
    .input(z.strictObject({ input: z.string().optional() }))
    .output(anything)
    .mutation(({ input }) => input),
  boom: publicProcedure
    .meta(endpoint("GET", "/boom", { tag, summary: "Fail" }))
    .input(z.strictObject({}))
    .output(anything)
    .query(() => {
      throw new Error("the database password is hunter2");
    }),
  wrongOutput: publicProcedure
    .meta(endpoint("GET", "/wrong-output", { tag, summary: "Fail" }))
    .input(z.strictObject({}))
    .output(z.object({ count: z.number() }))
    .query(() => ({ count: "secret" }) as never),
  wait: publicProcedure
    .meta(endpoint("GET", "/wait", { tag, summary: "Limited" }))
    .input(z.strictObject({}))
    .output(anything)
    .query(() => {
      throw new AppError("RATE_LIMIT_EXCEEDED", "Too many.", { retryAfter: 12.3 });
    }),
  mine: userProcedure
    .meta(endpoint("POST", "/mine", { tag, summary: "Mine" }))
    .input(z.strictObject({ text: z.string() }))
    .output(anything)
    .mutation(({ ctx }) => ctx.principal.user.email),
  hidden: publicProcedure.input(z.strictObject({})).query(() => "not on the REST API"),
});

const nobody: ApiContext = { principal: null, project: () => Promise.reject(new AppError("NOT_FOUND", "none")) };
const somebody: ApiContext = {
  ...nobody,
  principal: { user: { id: "1", email: "ada@example.com", name: "Ada" }, auth: { type: "session" } },
};

const handle = createRestHandler(testRouter, {
  prefix: "/api/v1",
  createContext: async (request) => (request.headers.has("authorization") ? somebody : nobody),
  maxBodyBytes: () => 1000,
});

interface Sent {
  body?: unknown;
  raw?: BodyInit;
  headers?: Record<string, string>;
}

async function call(method: string, path: string, { body, raw, headers = {} }: Sent = {}) {
  const init: RequestInit & { duplex?: "half" } = { method, headers };
  if (raw !== undefined) Object.assign(init, { body: raw, duplex: "half" });
  if (body !== undefined) Object.assign(init, { body: JSON.stringify(body), headers: { "content-type": "application/json", ...headers } });
  const response = await handle(new Request(`http://localhost/api/v1${path}`, init));
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, data: text ? JSON.parse(text) : undefined };
}

test("a static path is never taken for a parameter, whatever the order of the procedures", async () => {
  expect((await call("GET", "/widgets/search")).data).toBe("search");
  expect((await call("GET", "/widgets/7")).data).toEqual({ widget_id: "7" });
});

test("path values are decoded, and stay text", async () => {
  expect((await call("GET", "/widgets/a%2Fb%20c")).data).toEqual({ widget_id: "a/b c" });
  expect((await call("GET", "/widgets/%zz")).status).toBe(404);
});

test("query values become what the schema wants, behind every wrapper", async () => {
  const { data } = await call("GET", "/widgets?limit=5&archived=false&ratio=-1.5&kind=all&tags=a&text=12");
  expect(data).toEqual({ limit: 5, archived: false, ratio: -1.5, kind: "all", tags: ["a"], text: "12" });
  expect((await call("GET", "/widgets?kind=3&tags=a&tags=b")).data).toEqual({ limit: 20, kind: 3, tags: ["a", "b"] });
  expect((await call("GET", "/widgets")).data).toEqual({ limit: 20 });
});

test.each([
  ["limit=", "limit"],
  ["limit=abc", "limit"],
  ["limit=0x10", "limit"],
  ["limit=1&limit=2", "limit"],
  ["limit=101", "limit"],
  ["archived=yes", "archived"],
  ["archived=1", "archived"],
  ["kind=some", "kind"],
  ["lmit=1", "lmit"],
  ["constructor=1", "constructor"],
])("the query %s is refused naming %s", async (query, path) => {
  const { status, data } = await call("GET", `/widgets?${query}`);
  expect(status).toBe(422);
  expect(data).toMatchObject({ error_code: "VALIDATION_ERROR", status: 422, errors: [{ path }] });
});

test("no schema changes its mind after REST calls", async () => {
  await call("GET", "/widgets?limit=5&archived=true&ratio=1&kind=3");
  await call("POST", "/widgets", { body: { name: "a", retries: 1, enabled: true } });
  expect(Listing.safeParse({ limit: "5" }).success).toBe(false);
  expect(Listing.safeParse({ archived: "false" }).success).toBe(false);
  expect(Listing.safeParse({ kind: "3" }).success).toBe(false);
  expect(Widget.safeParse({ name: "a", retries: "5", enabled: true }).success).toBe(false);
  expect(Widget.safeParse({ name: "a", retries: null, enabled: true }).success).toBe(false);
  const typed = await call("POST", "/widgets", { body: { name: "a", retries: "5", enabled: "false" } });
  expect(typed.data.errors.map((error: { path: string }) => error.path)).toEqual(["retries", "enabled"]);
});

test("success has the status of its metadata, and 204 no body", async () => {
  expect((await call("POST", "/widgets", { body: { name: "a", retries: 1, enabled: true } })).status).toBe(201);
  expect((await call("POST", "/run", { body: { input: "x" } })).status).toBe(202);
  const deleted = await call("DELETE", "/widgets/1?force=true");
  expect(deleted).toMatchObject({ status: 204, text: "" });
});

test("an absent body is an empty object and needs no Content-Type", async () => {
  expect(await call("POST", "/run")).toMatchObject({ status: 202, data: {} });
  expect(await call("POST", "/run", { raw: "  \n", headers: { "content-type": "application/json" } })).toMatchObject({
    status: 202,
    data: {},
  });
  expect(await call("PUT", "/widgets/1")).toMatchObject({ status: 200, data: { widget_id: "1" } });
});

test("JSON needs no Content-Type, and takes a JSON type with a charset or a suffix", async () => {
  const raw = new TextEncoder().encode('{"input":"é"}');
  expect((await call("POST", "/run", { raw })).data).toEqual({ input: "é" });
  expect((await call("POST", "/run", { raw, headers: { "content-type": "Application/JSON; charset=utf-8" } })).status).toBe(202);
  expect((await call("POST", "/run", { raw, headers: { "content-type": "application/merge-patch+json" } })).status).toBe(202);
});

test.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"])(
  "a body of type %s is unreadable",
  async (type) => {
    const { status, data } = await call("POST", "/run", { raw: "input=x", headers: { "content-type": type } });
    expect(status).toBe(400);
    expect(data.error_code).toBe("BAD_REQUEST");
    expect(data.detail).toContain("application/json");
  },
);

test.each(["{x", '{"input":1', "undefined", "\u0000"])("the body %j is not JSON", async (raw) => {
  expect(await call("POST", "/run", { raw, headers: { "content-type": "application/json" } })).toMatchObject({
    status: 400,
    data: { error_code: "BAD_REQUEST", status: 400 },
  });
});

test("a body that is not UTF-8 is unreadable", async () => {
  const raw = Buffer.from('{"input":"\xff"}', "latin1");
  expect((await call("POST", "/run", { raw, headers: { "content-type": "application/json" } })).status).toBe(400);
});

test.each(["[]", "null", "5", '"text"', "true"])("the body %s is JSON, but no object", async (raw) => {
  expect(await call("POST", "/run", { raw, headers: { "content-type": "application/json" } })).toMatchObject({
    status: 422,
    data: { error_code: "VALIDATION_ERROR" },
  });
});

test("the path wins over query and body", async () => {
  expect((await call("PUT", "/widgets/1", { body: { widget_id: "2", name: "x" } })).data).toEqual({ widget_id: "1", name: "x" });
});

test("DELETE takes query and body", async () => {
  expect((await call("DELETE", "/widgets/1?reason=query")).data.detail).toBe("It is in use (query).");
  expect((await call("DELETE", "/widgets/1", { body: { reason: "body" } })).data.detail).toBe("It is in use (body).");
  expect((await call("DELETE", "/widgets/1", { body: { force: true } })).status).toBe(204);
});

test("a query parameter of an operation with a body is refused, not ignored", async () => {
  expect(await call("POST", "/run?input=x")).toMatchObject({ status: 422, data: { errors: [{ path: "input" }] } });
});

test("keys that mean something to JavaScript are only unknown keys", async () => {
  const raw = '{"__proto__":{"input":"x"},"constructor":1}';
  const { status, data } = await call("POST", "/run", { raw, headers: { "content-type": "application/json" } });
  expect(status).toBe(422);
  expect(data.errors.map((error: { path: string }) => error.path)).toEqual(["__proto__", "constructor"]);
});

test("a body over the limit is refused by its declared length", async () => {
  const { status, data } = await call("POST", "/run", { body: { input: "x".repeat(2000) } });
  expect(status).toBe(413);
  expect(data.error_code).toBe("PAYLOAD_TOO_LARGE");
});

test("a body without declared length is read no further than the limit", async () => {
  let pulled = 0;
  let isCancelled = false;
  const endless = new ReadableStream<Uint8Array>(
    {
      pull: (controller) => {
        pulled += 400;
        controller.enqueue(new Uint8Array(400).fill(32));
      },
      cancel: () => {
        isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  const { status } = await call("POST", "/run", { raw: endless, headers: { "content-type": "application/json" } });
  expect(status).toBe(413);
  expect(isCancelled).toBe(true);
  expect(pulled).toBeLessThanOrEqual(2000);
});

test("a wrong method is told the right ones", async () => {
  const patched = await call("PATCH", "/widgets/1");
  expect(patched).toMatchObject({ status: 405, data: { error_code: "METHOD_NOT_ALLOWED", status: 405 } });
  expect(patched.headers.get("allow")?.split(", ").sort()).toEqual(["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]);
  expect((await call("DELETE", "/run")).headers.get("allow")).toBe("POST, OPTIONS");
  const options = await call("OPTIONS", "/run");
  expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
});

test("HEAD is GET without the body", async () => {
  expect(await call("HEAD", "/widgets/1")).toMatchObject({ status: 200, text: "" });
  expect(await call("HEAD", "/widgets?lmit=1")).toMatchObject({ status: 422 });
  expect((await call("HEAD", "/run")).status).toBe(405);
});

test.each(["/nothing", "/widgets/1/2", "/hidden", "/", "/widgets//"])("there is nothing at %s", async (path) => {
  const { status, data } = await call("GET", path === "/widgets//" ? "/widgets//1" : path);
  expect(status).toBe(404);
  expect(data.error_code).toBe("NOT_FOUND");
});

test("a slash at the end changes nothing", async () => {
  expect((await call("GET", "/widgets/search/")).data).toBe("search");
});

test("what nobody foresaw shows nothing of itself", async () => {
  for (const path of ["/boom", "/wrong-output"]) {
    const { status, data, text } = await call("GET", path);
    expect(status).toBe(500);
    expect(data.error_code).toBe("INTERNAL_ERROR");
    expect(text).not.toMatch(/hunter2|secret|stack|count/);
  }
});

test("an error that knows when to come back says so", async () => {
  const { status, headers } = await call("GET", "/wait");
  expect([status, headers.get("retry-after")]).toEqual([429, "13"]);
});

test("nobody is told so before the body is looked at", async () => {
  expect(await call("POST", "/mine", { raw: "{x" })).toMatchObject({ status: 401, data: { error_code: "AUTH_REQUIRED" } });
  expect(await call("POST", "/mine", { body: { text: "x" }, headers: { authorization: "Bearer key" } })).toMatchObject({
    status: 200,
    data: "ada@example.com",
  });
});

test("no answer may be kept by a cache", async () => {
  for (const path of ["/widgets", "/nothing", "/boom"]) expect((await call("GET", path)).headers.get("cache-control")).toBe("no-store");
});

test("two procedures at one address, or a path parameter without a field, stop the start", () => {
  const t = initTRPC.meta<ApiMeta>().create();
  const get = (path: `/${string}`, input: z.ZodObject) =>
    t.procedure
      .meta(endpoint("GET", path, { tag, summary: "x" }))
      .input(input)
      .query(() => 1);
  const options = { prefix: "/api/v1", createContext: async () => nobody, maxBodyBytes: () => 10 };
  const twice = t.router({ a: get("/x/{a}", z.object({ a: z.string() })), b: get("/x/{b}", z.object({ b: z.string() })) });
  expect(() => createRestHandler(twice, options)).toThrow(/b and a share GET \/x\/\{\}/);
  expect(() => createRestHandler(t.router({ a: get("/x/{a}", z.object({})) }), options)).toThrow(/no field for \{a\}/);
});
