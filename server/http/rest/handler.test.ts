import { expect, test } from "vitest";
import { callWidgets, Listing, Widget } from "#server/testing/widget-api.ts";

test("a static path is never taken for a parameter, whatever the order of the procedures", async () => {
  expect((await callWidgets("GET", "/widgets/search")).data).toBe("search");
  expect((await callWidgets("GET", "/widgets/7")).data).toEqual({ widget_id: "7" });
});

test("path values are decoded, and stay text", async () => {
  expect((await callWidgets("GET", "/widgets/a%2Fb%20c")).data).toEqual({ widget_id: "a/b c" });
  expect((await callWidgets("GET", "/widgets/%zz")).status).toBe(404);
});

test("a text that is longer than any id is nobody's, and not a fault of a field", async () => {
  const { status, data } = await callWidgets("GET", `/widgets/${"x".repeat(10_000)}`);
  expect([status, data.error_code]).toEqual([404, "NOT_FOUND"]);
  expect(data.detail.length).toBeLessThan(400);
});

test("query values become what the schema wants, behind every wrapper", async () => {
  const { data } = await callWidgets("GET", "/widgets?limit=5&archived=false&ratio=-1.5&kind=all&tags=a&text=12");
  expect(data).toEqual({ limit: 5, archived: false, ratio: -1.5, kind: "all", tags: ["a"], text: "12" });
  expect((await callWidgets("GET", "/widgets?kind=3&tags=a&tags=b")).data).toEqual({ limit: 20, kind: 3, tags: ["a", "b"] });
  expect((await callWidgets("GET", "/widgets")).data).toEqual({ limit: 20 });
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
  const { status, data } = await callWidgets("GET", `/widgets?${query}`);
  expect(status).toBe(422);
  expect(data).toMatchObject({ error_code: "VALIDATION_ERROR", status: 422, errors: [{ path }] });
});

test("no schema changes its mind after REST calls", async () => {
  await callWidgets("GET", "/widgets?limit=5&archived=true&ratio=1&kind=3");
  await callWidgets("POST", "/widgets", { body: { name: "a", retries: 1, enabled: true } });
  expect(Listing.safeParse({ limit: "5" }).success).toBe(false);
  expect(Listing.safeParse({ archived: "false" }).success).toBe(false);
  expect(Listing.safeParse({ kind: "3" }).success).toBe(false);
  expect(Widget.safeParse({ name: "a", retries: "5", enabled: true }).success).toBe(false);
  expect(Widget.safeParse({ name: "a", retries: null, enabled: true }).success).toBe(false);
  const typed = await callWidgets("POST", "/widgets", { body: { name: "a", retries: "5", enabled: "false" } });
  expect(typed.data.errors.map((error: { path: string }) => error.path)).toEqual(["retries", "enabled"]);
});

test("success has the status of its metadata, and 204 no body", async () => {
  expect((await callWidgets("POST", "/widgets", { body: { name: "a", retries: 1, enabled: true } })).status).toBe(201);
  expect((await callWidgets("POST", "/run", { body: { input: "x" } })).status).toBe(202);
  const deleted = await callWidgets("DELETE", "/widgets/1?force=true");
  expect(deleted).toMatchObject({ status: 204, text: "" });
});

test("the path wins over query and body", async () => {
  expect((await callWidgets("PUT", "/widgets/1", { body: { widget_id: "2", name: "x" } })).data).toEqual({ widget_id: "1", name: "x" });
});

test("DELETE takes query and body", async () => {
  expect((await callWidgets("DELETE", "/widgets/1?reason=query")).data.detail).toBe("It is in use (query).");
  expect((await callWidgets("DELETE", "/widgets/1", { body: { reason: "body" } })).data.detail).toBe("It is in use (body).");
  expect((await callWidgets("DELETE", "/widgets/1", { body: { force: true } })).status).toBe(204);
});

test("a query parameter of an operation with a body is refused, not ignored", async () => {
  expect(await callWidgets("POST", "/run?input=x")).toMatchObject({ status: 422, data: { errors: [{ path: "input" }] } });
});

test("a wrong method is told the right ones", async () => {
  const patched = await callWidgets("PATCH", "/widgets/1");
  expect(patched).toMatchObject({ status: 405, data: { error_code: "METHOD_NOT_ALLOWED", status: 405 } });
  expect(patched.headers.get("allow")?.split(", ").sort()).toEqual(["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]);
  expect((await callWidgets("DELETE", "/run")).headers.get("allow")).toBe("POST, OPTIONS");
  const options = await callWidgets("OPTIONS", "/run");
  expect([options.status, options.headers.get("allow")]).toEqual([204, "POST, OPTIONS"]);
});

test("HEAD is GET without the body", async () => {
  expect(await callWidgets("HEAD", "/widgets/1")).toMatchObject({ status: 200, text: "" });
  expect(await callWidgets("HEAD", "/widgets?lmit=1")).toMatchObject({ status: 422 });
  expect((await callWidgets("HEAD", "/run")).status).toBe(405);
});

test.each(["/nothing", "/widgets/1/2", "/hidden", "/", "/widgets//"])("there is nothing at %s", async (path) => {
  const { status, data } = await callWidgets("GET", path === "/widgets//" ? "/widgets//1" : path);
  expect(status).toBe(404);
  expect(data.error_code).toBe("NOT_FOUND");
});

test("a slash at the end changes nothing", async () => {
  expect((await callWidgets("GET", "/widgets/search/")).data).toBe("search");
});

test("what nobody foresaw shows nothing of itself", async () => {
  for (const path of ["/boom", "/wrong-output"]) {
    const { status, data, text } = await callWidgets("GET", path);
    expect(status).toBe(500);
    expect(data.error_code).toBe("INTERNAL_ERROR");
    expect(text).not.toMatch(/hunter2|secret|stack|count/);
  }
});

test("an error that knows when to come back says so", async () => {
  const { status, headers } = await callWidgets("GET", "/wait");
  expect([status, headers.get("retry-after")]).toEqual([429, "13"]);
});

test("nobody is told so before the body is looked at", async () => {
  expect(await callWidgets("POST", "/mine", { raw: "{x" })).toMatchObject({ status: 401, data: { error_code: "AUTH_REQUIRED" } });
  expect(await callWidgets("POST", "/mine", { body: { text: "x" }, headers: { authorization: "Bearer key" } })).toMatchObject({
    status: 200,
    data: "ada@example.com",
  });
});

test("no answer may be kept by a cache", async () => {
  for (const path of ["/widgets", "/nothing", "/boom"])
    expect((await callWidgets("GET", path)).headers.get("cache-control")).toBe("no-store");
});
