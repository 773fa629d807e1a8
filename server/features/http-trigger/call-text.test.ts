import { expect, test } from "vitest";
import { callText } from "#server/features/http-trigger/service.ts";

const call = (method: string, path: string, headers: Record<string, string>, body = "") =>
  JSON.parse(callText({ method, url: `http://localhost${path}`, headers: new Headers(headers) }, Buffer.from(body)));

test("a call becomes method, headers, query and body", () => {
  expect(call("POST", "/x?city=Oslo&n=1", { "Content-Type": "application/json", "X-Order": "7" }, '{"a":[1,null]}')).toEqual({
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
])("the body %j is %j", (given, body) => expect(call("PUT", "/x", {}, given).body).toEqual(body));

test("what is declared as JSON must be JSON", () => {
  for (const type of ["application/json", "application/problem+json; charset=utf-8"])
    expect(() => call("POST", "/x", { "content-type": type }, '{"a":')).toThrow(expect.objectContaining({ code: "BAD_REQUEST" }));
  expect(call("POST", "/x", { "content-type": "application/json" }, "").body).toBeNull();
  expect(call("POST", "/x", { "content-type": "text/plain" }, '{"a":').body).toBe('{"a":');
});

test("long numbers keep their digits", () => {
  const text = callText({ method: "POST", url: "http://localhost/x", headers: new Headers() }, Buffer.from('{"id":12345678901234567890}'));
  expect(text).toContain('"body":{"id":12345678901234567890}');
});

test("nothing that proves who calls comes through", () => {
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
  const { query, ...rest } = call("GET", "/x?token=1&key=sk-service-abc&q=tea", headers);
  expect(rest).toEqual({ method: "GET", headers: { accept: "*/*" }, body: null });
  expect(query).toEqual({ q: "tea" });
});
