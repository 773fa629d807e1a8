import { brotliCompressSync, deflateRawSync, gzipSync } from "node:zlib";
import { afterEach, expect, test } from "vitest";
import { readContent } from "#server/platform/net/request-content.ts";
import { setSettings } from "#server/platform/settings.ts";

afterEach(() => setSettings({ MAX_BODY_BYTES: "4194304" }));

const read = (body: string | Uint8Array, headers: Record<string, string> = {}) => readContent(new Headers(headers), Buffer.from(body));
const typed = (type: string) => ({ "content-type": type });
const FORM = typed("application/x-www-form-urlencoded");
const codeOf = (reading: Promise<unknown>) => reading.then(() => "read").catch(({ code }) => code);

test.each([
  ["a=1&b=2", '{"a":"1","b":"2"}'],
  ["a=1&a=2&b=", '{"a":["1","2"],"b":""}'],
  ["flag&&x=%C3%BC+y%26", '{"flag":"","x":"ü y&"}'],
  ["a=100%&b=%zz&c=%4", '{"a":"100%","b":"%zz","c":"%4"}'],
  ["a%2Bb%3d=%2b+%26", '{"a+b=":"+ &"}'],
  ["payload=%7B%22zen%22%3A%22%C3%BC%22%7D", '{"zen":"ü"}'],
  ["payload=text", '{"payload":"text"}'],
  ["payload=1&other=2", '{"payload":"1","other":"2"}'],
  ["payload=1&payload=2", '{"payload":["1","2"]}'],
  ["__proto__=1", '{"__proto__":"1"}'],
])("the form %s is %s", async (body, json) => {
  expect(await read(body, FORM)).toEqual({ json, raw: body });
});

test("a form is decoded by its charset", async () => {
  const { json } = await read("name=Gr%F6%DFe", typed("application/x-www-form-urlencoded; charset=iso-8859-1"));

  expect(json).toBe('{"name":"Größe"}');
});

test.each(["charset=windows-1252&name=J%FCrgen", "name=J%FCrgen&_charset_=iso-8859-1"])(
  "decodes the form %s by the charset that it names",
  async (form) => {
    expect(JSON.parse((await read(form, FORM)).json)).toMatchObject({ name: "Jürgen" });
  },
);

test.each([
  ["without a charset", "name=J%FCrgen", "BAD_REQUEST"],
  ["with a wrong charset", "charset=utf-8&name=J%FCrgen", "BAD_REQUEST"],
  ["with an unknown charset", "_charset_=klingon&name=J%FCrgen", "UNSUPPORTED_MEDIA_TYPE"],
])("refuses a Latin-1 form %s", async (_, form, code) => {
  expect(await codeOf(read(form, FORM))).toBe(code);
});

test.each([{}, typed("application/octet-stream")])("takes text under %j as text", async (headers) => {
  expect((await read("hello", headers)).json).toBe('"hello"');
});

test("JSON that is declared as a form stays JSON", async () => {
  expect((await read('{"a": "b=c"}', FORM)).json).toBe('{"a": "b=c"}');
});

test("a form with more fields than an object may have is refused", async () => {
  expect(await codeOf(read("a&".repeat(10_001), FORM))).toBe("VALIDATION_ERROR");
});

test.each([
  ["gzip", gzipSync('{"a":1}')],
  ["deflate", deflateRawSync('{"a":1}')],
  ["gzip, br", brotliCompressSync(gzipSync('{"a":1}'))],
])("a body packed with %s is unpacked", async (encoding, body) => {
  expect((await read(body, { "content-encoding": encoding })).json).toBe('{"a":1}');
});

test("an empty body that is declared as gzip is empty", async () => {
  expect(await read("", { "content-encoding": "gzip" })).toEqual({ json: '""', raw: "" });
});

test("a body that unpacks to more than the limit is refused", async () => {
  setSettings({ MAX_BODY_BYTES: "100000" });

  expect(await codeOf(read(gzipSync(Buffer.alloc(100_001)), { "content-encoding": "gzip" }))).toBe("PAYLOAD_TOO_LARGE");
});

test.each([
  ["an unknown encoding", "{}", { "content-encoding": "compress" }, "UNSUPPORTED_MEDIA_TYPE"],
  ["an unknown charset", "{}", typed("application/json; charset=klingon"), "UNSUPPORTED_MEDIA_TYPE"],
  ["bytes that are not packed", "{}", { "content-encoding": "gzip" }, "BAD_REQUEST"],
  ["bytes that are no text", Buffer.from([0x89, 0x50, 0xff]), typed("image/png"), "BAD_REQUEST"],
  ["Latin-1 without its charset", Buffer.from('"ö"', "latin1"), typed("application/json"), "BAD_REQUEST"],
  ["a multipart body without a boundary", "-".repeat(5000), typed("multipart/form-data"), "BAD_REQUEST"],
  ["a broken multipart body", "--x", typed("multipart/form-data; boundary=x"), "BAD_REQUEST"],
] as const)("%s is refused", async (_, body, headers, code) => {
  expect(await codeOf(read(body, headers))).toBe(code);
});

test.each([
  ["its declaration", Buffer.from('"Größe"', "latin1"), "application/json; charset=iso-8859-1"],
  ["its byte order mark", Buffer.from('\ufeff"Größe"', "utf16le"), "application/json"],
  ["a quoted declaration", Buffer.from('"Größe"', "latin1"), 'application/json; charset="latin1"'],
])("JSON is decoded by %s", async (_, body, type) => {
  expect((await read(body, typed(type))).json).toBe('"Größe"');
});

test.each(["text/plain", "application/xml", "text/xml", "application/soap+xml", "text/csv"])("a body of %s is text", async (type) => {
  expect(await read("<a>1</a>", typed(type))).toEqual({ json: '"<a>1</a>"', raw: "<a>1</a>" });
});

test("XML is decoded by its own declaration", async () => {
  const body = Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>ö</a>', "latin1");

  expect((await read(body, typed("application/xml"))).raw).toContain("<a>ö</a>");
});

const multipart = (parts: readonly string[]) => `${parts.map((part) => `--xYzZY\r\n${part}\r\n`).join("")}--xYzZY--\r\n`;
const field = (name: string, value: string) => `Content-Disposition: form-data; name="${name}"\r\n\r\n${value}`;
const MULTIPART = typed("multipart/form-data; boundary=xYzZY");

test("a multipart body becomes its fields", async () => {
  const file = 'Content-Disposition: form-data; name="scan"; filename="größe.png"\r\nContent-Type: image/png\r\n\r\n12345';

  const { json, raw } = await read(multipart([field("from", "ü@example.com"), field("to", "a"), field("to", "b"), file]), MULTIPART);

  expect(JSON.parse(json)).toEqual({
    from: "ü@example.com",
    to: ["a", "b"],
    scan: { name: "größe.png", size: 5, type: "image/png" },
  });
  expect(raw).toBeUndefined();
});

test("a part with longer headers than 16 KiB is refused", async () => {
  const part = `Content-Disposition: form-data; name="a"\r\n${"X: 1\r\n".repeat(4096)}\r\nvalue`;
  expect(await codeOf(read(multipart([part]), typed("multipart/form-data; boundary=xYzZY")))).toBe("VALIDATION_ERROR");
});

test("parts are bounded whatever boundary a quoted parameter names", async () => {
  const body = multipart(Array.from({ length: 1100 }, () => 'Content-Disposition: form-data; name="a"\r\n\r\n1'));
  expect(await codeOf(read(body, typed('multipart/form-data; x="; boundary=Z"; boundary=xYzZY')))).not.toBe("read");
});

test("a multipart body with too many parts is refused", async () => {
  const body = multipart(Array.from({ length: 1001 }, (_, index) => field(`f${index}`, "")));

  expect(await codeOf(read(body, MULTIPART))).toBe("VALIDATION_ERROR");
});
