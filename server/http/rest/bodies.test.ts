import { expect, test } from "vitest";
import { callWidgets } from "#server/testing/widget-api.ts";

test("an absent body is an empty object and needs no Content-Type", async () => {
  expect(await callWidgets("POST", "/run")).toMatchObject({ status: 202, data: {} });
  expect(await callWidgets("POST", "/run", { raw: "  \n", headers: { "content-type": "application/json" } })).toMatchObject({
    status: 202,
    data: {},
  });
  expect(await callWidgets("PUT", "/widgets/1")).toMatchObject({ status: 200, data: { widget_id: "1" } });
});

test("JSON needs no Content-Type, and takes a JSON type with a charset or a suffix", async () => {
  const raw = new TextEncoder().encode('{"input":"é"}');
  expect((await callWidgets("POST", "/run", { raw })).data).toEqual({ input: "é" });
  expect((await callWidgets("POST", "/run", { raw, headers: { "content-type": "Application/JSON; charset=utf-8" } })).status).toBe(202);
  expect((await callWidgets("POST", "/run", { raw, headers: { "content-type": "application/merge-patch+json" } })).status).toBe(202);
});

test.each(["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"])(
  "a body of type %s without JSON in it is unreadable, and told what to send",
  async (type) => {
    const { status, data } = await callWidgets("POST", "/run", { raw: "input=x", headers: { "content-type": type } });
    expect(status).toBe(400);
    expect(data.error_code).toBe("BAD_REQUEST");
    expect(data.detail).toContain("application/json");
  },
);

test("JSON is read even when curl -d declares it a form", async () => {
  const form = { "content-type": "application/x-www-form-urlencoded" };
  expect((await callWidgets("POST", "/run", { raw: '{"input":"x"}', headers: form })).data).toEqual({ input: "x" });
});

test.each(["{x", '{"input":1', "undefined", "\u0000"])("the body %j is not JSON", async (raw) => {
  expect(await callWidgets("POST", "/run", { raw, headers: { "content-type": "application/json" } })).toMatchObject({
    status: 400,
    data: { error_code: "BAD_REQUEST", status: 400 },
  });
});

test("a body that is not UTF-8 is unreadable", async () => {
  const raw = Buffer.from('{"input":"\xff"}', "latin1");
  expect((await callWidgets("POST", "/run", { raw, headers: { "content-type": "application/json" } })).status).toBe(400);
});

test.each(["[]", "null", "5", '"text"', "true"])("the body %s is JSON, but no object", async (raw) => {
  expect(await callWidgets("POST", "/run", { raw, headers: { "content-type": "application/json" } })).toMatchObject({
    status: 422,
    data: { error_code: "VALIDATION_ERROR" },
  });
});

test("keys that mean something to JavaScript are only unknown keys", async () => {
  const raw = '{"__proto__":{"input":"x"},"constructor":1}';
  const { status, data } = await callWidgets("POST", "/run", { raw, headers: { "content-type": "application/json" } });
  expect(status).toBe(422);
  expect(data.errors.map((error: { path: string }) => error.path)).toEqual(["__proto__", "constructor"]);
});

test("a body over the limit is refused by its declared length", async () => {
  const { status, data } = await callWidgets("POST", "/run", { body: { input: "x".repeat(2000) } });
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
  const { status } = await callWidgets("POST", "/run", { raw: endless, headers: { "content-type": "application/json" } });
  expect(status).toBe(413);
  expect(isCancelled).toBe(true);
  expect(pulled).toBeLessThanOrEqual(2000);
});
