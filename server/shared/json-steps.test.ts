import { expect, test } from "vitest";
import { isJson } from "#server/shared/json-steps.ts";
import { listPieces, listText, objectPieces, objectText } from "#server/shared/json-text.ts";
import { PIECE, piecesOf } from "#server/shared/text-pieces.ts";

const parses = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
};

/** The result of steps that are taken at once, with their number. */
function taken<Result>(steps: Generator<void, Result>): { result: Result; count: number } {
  for (let count = 0; ; count++) {
    const step = steps.next();
    if (step.done) return { result: step.value, count };
  }
}

const VALID = [
  ...[
    '{"a":[1,-2.5e+7,true,false,null,"x\\u00e9\\n"],"b":{"c":{}},"":[[],{}]}',
    " [ ] ",
    "{ }",
    '"text"',
    "0",
    "-0.1E5",
    "null",
    "[[[1]]]",
  ],
  ...['{"a" : 1 , "b" : [ 2 , 3 ] }', '\t["\\"\\\\"]\r\n', '["\u2028"]'],
];
const SIGNS = [...'{}[],:"\\ \n1-+.eEtu', "true", "null", '"a"', '"a":', "\u0001", "\ufeff", "\u00a0"];

test("distinguishes JSON from other text as JSON.parse does", () => {
  let random = 7;
  const next = (most: number) => {
    random = (random * 16807) % 2147483647;
    return random % most;
  };
  const texts = VALID.flatMap((text) => [
    text,
    ...Array.from({ length: 400 }, () => {
      const at = next(text.length + 1);
      return text.slice(0, at) + SIGNS[next(SIGNS.length)] + text.slice(at + next(3));
    }),
  ]);
  for (const text of texts) expect([text, taken(isJson(text)).result]).toEqual([text, parses(text)]);
  expect(texts.filter(parses).length).toBeGreaterThan(100);
});

test("a long JSON text is read in steps of a piece", () => {
  const text = JSON.stringify(Array.from({ length: 20 }, (_, index) => (index % 2 ? "x".repeat(PIECE) : Array(9000).fill(index))));
  expect(taken(isJson(text)).count).toBeGreaterThanOrEqual(Math.floor(text.length / (2 * PIECE)));
});

test("no piece of a list or an object is long, and together they are the text", () => {
  const pair = "😀";
  const texts = [
    "short",
    `{"a":"${"b".repeat(9 * PIECE)}"}`,
    `x${pair.repeat(6 * PIECE)}"`,
    `[${"1,".repeat(5 * PIECE)}]`,
    "\u0000".repeat(5 * PIECE),
    "{}",
  ];
  const entries = texts.map((text, index) => [index % 3 === 0 ? "same" : `name "${index}"`, text] as const);
  const [list, object] = [[...listPieces(texts)], [...objectPieces(entries)]];
  expect(list.join("") === listText(texts)).toBe(true);
  expect(object.join("") === objectText(entries)).toBe(true);
  expect([...listPieces([])]).toEqual(["[]"]);
  for (const piece of [...list, ...object]) expect(piece.length).toBeLessThanOrEqual(6 * (PIECE + 1));
  for (const piece of piecesOf(pair.repeat(PIECE))) expect(piece.isWellFormed()).toBe(true);
});
