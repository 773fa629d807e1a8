import { expect, test } from "vitest";
import { type DiffPiece, diffTexts, wholeDiff } from "#components/ui/text-diff.ts";

/** Pieces as text: -removed-, +added+, and how many lines were left out. */
const shown = (pieces: DiffPiece[]) =>
  pieces
    .map((piece) =>
      piece.kind === "cut"
        ? `<${piece.lines}>`
        : piece.kind === "same"
          ? piece.text
          : piece.kind === "removed"
            ? `-${piece.text}-`
            : `+${piece.text}+`,
    )
    .join("");
const lines = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}\n`).join("");

test.each([
  ["Be brief.", "Be kind.", "Be -brief-+kind+."],
  ["one\ntwo\nthree\n", "one\nthree\n", "one\n-two\n-three\n"],
  ["one\nthree", "one\ntwo\nthree", "one\n+two\n+three"],
  ["", "new", "+new+"],
  ["same", "same", "same"],
  // With nothing in common it is another text, and not the same with every word exchanged.
  ["Answer in one line.", "Du bist eine Katze", "-Answer in one line.-+Du bist eine Katze+"],
  ["a brief one\nstays\nthe last", "a kind one\nstays\nthe very last", "a -brief-+kind+ one\nstays\nthe +very +last"],
])("%j → %j", (before, after, said) => {
  expect(shown(diffTexts(before, after))).toBe(said);
});

test.each([
  ["", ""],
  ["one two three", "one two three"],
  ["", "new"],
  ["The quick fox.\nSits.", "The slow fox!\nSits."],
  ["a b c d e", "b x d y e z"],
  ["Grüße, 你好", "Grüße an 你"],
  ["a ".repeat(3000), `${"b ".repeat(3000)}a `],
])("either text can be read whole from what differs: %#", (a, b) => {
  const side = (without: string) =>
    wholeDiff(a, b)
      .filter(({ kind }) => kind !== without)
      .map(({ text }) => text)
      .join("");
  expect([side("added"), side("removed")]).toEqual([a, b]);
});

test("of a long text the lines near a change are shown", () => {
  const before = `${lines(1, 20)}old\n${lines(21, 40)}`;
  expect(shown(diffTexts(before, before.replace("old", "new")))).toBe("<18>line 19\nline 20\n-old\n-+new\n+line 21\nline 22\n<18>");
});

test("texts that are too long to be compared line by line differ as a whole", () => {
  const before = Array.from({ length: 3000 }, (_, index) => `row ${(index * 7919) % 3001}\n`).join("");
  const after = Array.from({ length: 3000 }, (_, index) => `now ${(index * 104_729) % 3001}\n`).join("");
  expect(diffTexts(`same\n${before}`, `same\n${after}`).slice(-2)).toEqual([
    { kind: "removed", text: before },
    { kind: "added", text: after },
  ]);
});
