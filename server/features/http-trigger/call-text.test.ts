import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { readCall } from "#server/features/http-trigger/service.ts";
import { triggerFields } from "#server/workflow/trigger-fields.ts";

const read = (method: string, path: string, headers: Record<string, string>, body: string | Buffer = "") =>
  readCall({ method, url: `http://localhost${path}`, headers: new Headers(headers) }, Buffer.from(body));
const call = async (...args: Parameters<typeof read>) => JSON.parse((await read(...args)).input);
/** Value of `{{trigger.raw}}` for a call. */
const rawOf = async (...args: Parameters<typeof read>) => {
  const { input, raw } = await read(...args);
  return triggerFields({ data: { kind: "http" } }, { input, params: raw === undefined ? {} : { raw } }).raw;
};

test("a call becomes method, headers, query and body", async () => {
  expect(await call("POST", "/x?city=Oslo&n=1", { "Content-Type": "application/json", "X-Order": "7" }, '{"a":[1,null]}')).toEqual({
    method: "POST",
    headers: { "content-type": "application/json", "x-order": "7" },
    query: { city: "Oslo", n: "1" },
    body: { a: [1, null] },
  });
});

test.each([
  ["", null],
  ["plain text", "plain text"],
  ["a=1&b=2", "a=1&b=2"],
  ["null", null],
  ['"text"', "text"],
  ["nul \u0000 gone", "nul  gone"],
])("the body %j is %j", async (given, body) => expect((await call("PUT", "/x", {}, given)).body).toEqual(body));

test("what is declared as JSON must be JSON", async () => {
  for (const type of ["application/json", "application/problem+json; charset=utf-8"])
    await expect(call("POST", "/x", { "content-type": type }, '{"a":')).rejects.toMatchObject({ code: "BAD_REQUEST" });
  expect((await call("POST", "/x", { "content-type": "application/json" }, "")).body).toBeNull();
  expect((await call("POST", "/x", { "content-type": "text/plain" }, '{"a":')).body).toBe('{"a":');
});

test("long numbers keep their digits", async () => {
  expect((await read("POST", "/x", {}, '{"id":12345678901234567890}')).input).toContain('"body":{"id":12345678901234567890}');
});

test("nothing that proves who calls comes through", async () => {
  const headers = {
    authorization: "Bearer sk-service-abc",
    cookie: "session=1",
    "x-treadle-front": "1",
    "x-api-key": "1",
    "x-auth-token": "1",
    "x-service-signature": "1",
    "x-forwarded-for": "1.2.3.4",
    "x-custom": "has sk-service-abc in it",
    accept: "*/*",
  };
  const { query, ...rest } = await call("GET", "/x?token=1&key=sk-service-abc&q=tea", headers);
  expect(rest).toEqual({ method: "GET", headers: { accept: "*/*" }, body: null });
  expect(query).toEqual({ q: "tea" });
});

const FORM = { "content-type": "application/x-www-form-urlencoded" };

test("repeated query parameters are a list", async () => {
  expect((await call("GET", "/x?tag=a&tag=b&one=1", {})).query).toEqual({ tag: ["a", "b"], one: "1" });
});

test("a form becomes the object of its fields", async () => {
  expect((await call("POST", "/x", FORM, "a=1&a=2&b=%C3%BC")).body).toEqual({ a: ["1", "2"], b: "ü" });
});

test("a form whose only field is payload gives its JSON", async () => {
  expect((await call("POST", "/x", FORM, "payload=%7B%22a%22%3A1%7D")).body).toEqual({ a: 1 });
});

test("a body is decoded by its charset", async () => {
  const type = { "content-type": "text/plain; charset=iso-8859-1" };

  expect((await call("POST", "/x", type, Buffer.from("Größe", "latin1"))).body).toBe("Größe");
});

test("a packed body is unpacked", async () => {
  expect((await call("POST", "/x", { "content-encoding": "gzip" }, gzipSync('{"a":1}'))).body).toEqual({ a: 1 });
});

test.each([
  ["content-type", "text/plain; charset=klingon"],
  ["content-encoding", "compress"],
])("an unknown %s is refused", async (name, value) => {
  await expect(call("POST", "/x", { [name]: value }, "text")).rejects.toMatchObject({ code: "UNSUPPORTED_MEDIA_TYPE" });
});

test.each([
  ["a form", FORM, "a=1&b=2"],
  ["JSON", {}, '{ "a": 1 }'],
  ["compact JSON", {}, '{"a":12345678901234567890}'],
  ["text", {}, "plain"],
  ["nothing", {}, ""],
])("the raw text of %s is read as sent", async (_, headers, body) => {
  expect(await rawOf("POST", "/x", headers, body)).toBe(body);
});

test("the raw text is kept only where the input does not give it", async () => {
  expect((await read("POST", "/x", {}, '{"a":1}')).raw).toBeUndefined();
});
