import fc from "fast-check";
import { anyCharacter } from "#server/testing/any-character.ts";

// Values that no field expects, as JSON text: so a number can be larger than any that JavaScript has, and a key be __proto__.

/** JSON text of a value to send. */
type JsonText = string;

const json = (value: unknown): JsonText => JSON.stringify(value);
const nested = (depth: number, open: string, close: string): JsonText => open.repeat(depth) + close.repeat(depth);

const WRONG_TYPES = [null, true, false, 0, 1, -1, 1.5, "", " ", "x", [], {}, [null], [[]], [{}], { a: 1 }, ["x", "x"], "true", "1", "null"];
const NUMBERS = [
  "-0",
  "1e999",
  "-1e999",
  "1e-400",
  "1E400",
  "9007199254740993",
  "2147483648",
  "-2147483649",
  "9223372036854775808",
  "0.1e1",
];
const TEXTS = [
  "nul \u0000 in it",
  "\u0000",
  "half \ud800 a pair",
  "\udfff\ud800",
  "\u202Eright to left\u202C שלום مرحبا",
  "👩‍👩‍👧‍👦 🏳️‍🌈 Z͑ͫ̓ͪ̂ͫ̽͏̴̙̤",
  "'; DROP TABLE users; --",
  '" OR 1=1 /*',
  "%_%",
  "\\",
  "\\u0000",
  "$1 $$ #{7*7}",
  "<script>alert(1)</script><img src=x onerror=alert(1)>",
  "{{trigger.output}} {{credentials.X}} {{",
  "{{'x'.constructor}} {% raw %}",
  "../../../../etc/passwd",
  "a\r\nSet-Cookie: x=1",
  "\u2028\u2029\ufeff\u200b",
  "NaN",
  "Infinity",
  "undefined",
  "[object Object]",
  "2026-13-45T99:99:99Z",
  "0000-00-00",
  "+275760-09-13T00:00:00.001Z",
  "-000001-01-01T00:00:00.000Z",
  "0000-01-01T00:00:00.000Z",
  "9999999999999999",
  "00000000-0000-0000-0000-000000000000",
  "{019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10}",
  "019A8F3E-5B7A-7C55-9D1F-0B6C2F6F9A10",
  "019a8f3e5b7a7c559d1f0b6c2f6f9a10",
  "javascript:alert(1)",
  "http://[::1]:0/",
  "http://user:pw@127.0.0.1:1/",
  "file:///etc/passwd",
  "a@b",
  "(".repeat(200),
  "$[?(@.a==1)]",
  "* * * * *",
  "__proto__",
  "constructor",
];
const OBJECTS = [
  '{"__proto__":{"isAdmin":true}}',
  '{"__proto__":null}',
  '{"$type":""}',
  '{"constructor":{"prototype":{"x":1}}}',
  '{"toString":1,"hasOwnProperty":1,"length":-1,"then":1,"toJSON":1}',
  '{"a":1,"a":2}',
  '{"":""}',
  '{"\\u0000":1,"\\ud800":2}',
  '{"$ref":"#/definitions/a","definitions":{"a":{"$ref":"#/definitions/a"}}}',
];
/** Bounded: what is larger than the whole body may be is the door's to refuse, and has a test of its own. */
const HUGE = () => [
  json("x".repeat(70_000)),
  json("é🎉".repeat(40_000)),
  json("a".repeat(1_200_000)),
  json(Array.from({ length: 3000 }, () => "x")),
  json(Object.fromEntries(Array.from({ length: 3000 }, (_, index) => [`k${index}`, index]))),
  json(`9${"0".repeat(400)}`),
  `9${"0".repeat(400)}`,
  nested(90, "[", "]"),
  nested(5000, "[", "]"),
  `${'{"a":'.repeat(90)}1${"}".repeat(90)}`,
  `${'{"a":'.repeat(3000)}1${"}".repeat(3000)}`,
];

function hostileJson(foreign: readonly string[]): fc.Arbitrary<JsonText> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...WRONG_TYPES).map(json) },
    { weight: 2, arbitrary: fc.constantFrom(...NUMBERS) },
    { weight: 7, arbitrary: fc.constantFrom(...TEXTS).map(json) },
    { weight: 2, arbitrary: fc.constantFrom(...OBJECTS) },
    { weight: 1, arbitrary: fc.constantFrom(...HUGE()) },
    { weight: 2, arbitrary: fc.constantFrom(...foreign).map(json) },
    { weight: 1, arbitrary: fc.constantFrom(...foreign).map((id) => json([id])) },
    { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 40 }).map(json) },
    { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 300 }).map(json) },
    { weight: 1, arbitrary: fc.double().map((value) => (Number.isFinite(value) ? String(value) : "1e999")) },
    { weight: 2, arbitrary: fc.json({ maxDepth: 4, stringUnit: anyCharacter }) },
  );
}

/** Texts for paths, queries and headers. */
function hostileText(foreign: readonly string[]): fc.Arbitrary<string> {
  return fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(...TEXTS) },
    { weight: 2, arbitrary: fc.constantFrom("", "0", "-1", "1.5", "1e3", "201", "100001", "9".repeat(30), "null", "true", " 1", "0x10") },
    { weight: 2, arbitrary: fc.constantFrom("..", ".", "%00", "%", "a/b", "a%2Fb", "a?b=c#d", "x".repeat(3000), "é".repeat(500)) },
    { weight: 2, arbitrary: fc.constantFrom(...foreign) },
    { weight: 3, arbitrary: fc.string({ unit: anyCharacter, maxLength: 30 }) },
  );
}

/** Whole bodies in place of an object; bytes, because some are no text. */
export const HOSTILE_BODIES: Uint8Array<ArrayBuffer>[] = [
  ...["null", "[]", '"x"', "0", "{", "{}x", '{"a":}', "{'a':1}", "NaN", '{"x":1}', '{"__proto__":{"a":1}}', nested(6000, "[", "]")],
  ...[`${'{"a":'.repeat(6000)}1${"}".repeat(6000)}`, "\u0000", "\ufeff{", "a=1&b=2", "<a/>"],
].map((text) => Uint8Array.from(Buffer.from(text)));
HOSTILE_BODIES.push(Uint8Array.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]), Uint8Array.from([0x1f, 0x8b, 0x08, 0x00]));

export interface HostileValues {
  json: fc.Arbitrary<JsonText>;
  text: fc.Arbitrary<string>;
}

/**
 * What values are drawn from. To be made once for many draws: some of it is large.
 * @param foreign ids of things in another project
 */
export const hostileValues = (foreign: readonly string[]): HostileValues => ({ json: hostileJson(foreign), text: hostileText(foreign) });
