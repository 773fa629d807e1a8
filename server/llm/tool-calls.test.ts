import { expect, test } from "vitest";
import { ToolCallGatherer } from "#server/llm/tool-calls.ts";

const gathered = (...pieces: unknown[]) => {
  const gatherer = new ToolCallGatherer();
  for (const piece of pieces) gatherer.addPiece(piece);
  return gatherer.calls().map(({ id, name, args }) => [id, name, args]);
};
const fn = (name: string | undefined, text: unknown) => ({ ...(name !== undefined && { name }), arguments: text });

test("pieces of parallel calls belong together by index, in whatever order they come", () => {
  expect(
    gathered(
      { index: 0, id: "a", function: fn("find", "") },
      { index: 1, id: "b", function: fn("read", '{"u') },
      { index: 0, function: fn(undefined, '{"q":') },
      { index: 1, function: fn(undefined, 'rl":"y"}') },
      { index: 0, function: fn(undefined, '"x"}') },
    ),
  ).toEqual([
    ["a", "find", { q: "x" }],
    ["b", "read", { url: "y" }],
  ]);
});

test("calls that all bear index 0 are told apart by their ids, and pieces go on with the latest", () => {
  expect(
    gathered(
      { index: 0, id: "a", function: fn("find", '{"q":1}') },
      { index: 0, id: "b", function: fn("find", '{"q"') },
      { index: 0, function: fn("", ":2}") },
    ),
  ).toEqual([
    ["a", "find", { q: 1 }],
    ["b", "find", { q: 2 }],
  ]);
});

test("a server that repeats id and name with every piece, or makes up an id for each, sends one call", () => {
  const again = (text: string) => ({ index: 0, id: "a", function: fn("find", text) });
  expect(gathered(again('{"q"'), again(":1"), again("}"))).toEqual([["a", "find", { q: 1 }]]);
  const other = (id: string, text: string) => ({ index: 0, id, function: fn(undefined, text) });
  expect(gathered(again('{"q"'), other("b", ":1"), other("c", "}"))).toEqual([["a", "find", { q: 1 }]]);
});

test("without ids and indices a name begins a call; each gets an id of nine letters and digits", () => {
  const calls = gathered(
    { function: fn("find", '{"q":1}') },
    { function: fn("find", '{"q"') },
    { function: fn(undefined, ":2}") },
    { function: fn("read", { url: "y" }) },
  );
  expect(calls.map(([, ...rest]) => rest)).toEqual([
    ["find", { q: 1 }],
    ["find", { q: 2 }],
    ["read", { url: "y" }],
  ]);
  expect(new Set(calls.map(([id]) => id)).size).toBe(3);
  for (const [id] of calls) expect(id).toMatch(/^[a-z0-9]{9}$/);
});

test("calls of other names at the same index without ids are other calls", () => {
  expect(gathered({ index: 0, function: fn("find", '{"q":1}') }, { index: 0, function: fn("read", "{}") }).map(([, name]) => name)).toEqual(
    ["find", "read"],
  );
});

test("arguments that were run together are several calls of one tool", () => {
  const calls = gathered({ index: 0, id: "a", function: fn("find", '{"q":"}{"}{"q":{"deep":"\\""}} {"q":3}') });
  expect(calls.map(([, name, args]) => [name, args])).toEqual([
    ["find", { q: "}{" }],
    ["find", { q: { deep: '"' } }],
    ["find", { q: 3 }],
  ]);
  expect(new Set(calls.map(([id]) => id)).size).toBe(3);
});

test.each([['{"q": "cut'], ["[1]"], ["null"], ['"text"'], ['{"q":1} and more']])(
  "arguments %j are malformed and kept as they came",
  (text) => {
    const gatherer = new ToolCallGatherer();
    gatherer.addPiece({ index: 0, id: "a", function: fn("find", text) });
    expect(gatherer.calls()).toEqual([{ id: "a", name: "find", args: { input: text }, isMalformed: true }]);
  },
);

test("no arguments are an empty object; whole calls are never merged; what must go back is kept", () => {
  const gatherer = new ToolCallGatherer();
  const extra_content = { google: { thought_signature: "s" } };
  gatherer.addWhole({ id: "a", function: fn("find", null), extra_content });
  gatherer.addWhole({ id: "a", function: fn("find", "") });
  gatherer.addWhole(null);
  const calls = gatherer.calls();
  expect(calls.map(({ name, args, isMalformed }) => [name, args, isMalformed])).toEqual([
    ["find", {}, false],
    ["find", {}, false],
    ["", {}, false],
  ]);
  expect(calls[0]).toMatchObject({ id: "a", extra: extra_content });
  expect(calls[1]?.id).not.toBe("a");
});

test("what no row can keep is not in a call: U+0000, halves of pairs, objects without end", () => {
  const calls = gathered(
    { index: 0, id: "a\u0000", function: fn("fi\u0000nd", '{"q\\u0000":"x\\u0000\\ud800","p":["\\udfff"]}') },
    { index: 1, id: "b", function: fn("read", "no JSON\u0000\ud800") },
    { index: 2, id: "c", function: fn("read", `${'{"a":'.repeat(50_000)}1${"}".repeat(50_000)}`) },
  );
  expect(calls.slice(0, 2)).toEqual([
    ["a", "find", { q: "x\ufffd", p: ["\ufffd"] }],
    ["b", "read", { input: "no JSON\ufffd" }],
  ]);
  expect(Object.keys(Object(calls[2]?.[2]))).toEqual(["input"]);
});

test("takes line breaks inside the texts of arguments", () => {
  const args = '{\n  "text": "one\ntwo\t\\"three\\"",\n  "n": 1\n}';
  expect(gathered({ index: 0, id: "a", function: fn("note", args) })).toEqual([["a", "note", { text: 'one\ntwo\t"three"', n: 1 }]]);
});
