import { expect, test } from "vitest";
import { MAX_JSON_PARTS, MAX_OBJECT_KEYS } from "#server/platform/clean-text.ts";
import { textUpTo } from "#server/platform/net/read-up-to.ts";

const MIB = 1024 * 1024;
const read = (text: string) => textUpTo(new Response(text), 8 * MIB);
const keys = (count: number) => Array.from({ length: count }, (_, at) => `"k${at}":1`).join();

test.each([
  ["many keys", `{${keys(MAX_OBJECT_KEYS + 1)}}`],
  ["many objects", `[${"{},".repeat(MAX_JSON_PARTS)}{}]`],
  ["many levels", "[".repeat(101)],
])("refuses JSON of %s before it is parsed", async (_, text) => {
  await expect(read(text)).rejects.toThrow("longer than the limit for JSON");
});

test("reads JSON whose texts hold many brackets and colons", async () => {
  const text = JSON.stringify({ code: '{"[:'.repeat(MAX_JSON_PARTS) });

  expect(await read(text)).toBe(text);
});

test("counts the keys of each event of a stream for itself", async () => {
  const text = `data: {${keys(MAX_OBJECT_KEYS)}}\n\n`.repeat(30);

  expect(await read(text)).toBe(text);
});
