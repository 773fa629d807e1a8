import { expect, test } from "vitest";
import { diffTexts } from "#components/runs/compare/text-diff.ts";

const side = (parts: ReturnType<typeof diffTexts>, without: "added" | "removed") =>
  parts
    .filter(({ kind }) => kind !== without)
    .map(({ text }) => text)
    .join("");

test.each([
  ["", ""],
  ["one two three", "one two three"],
  ["", "new"],
  ["The quick fox.", "The slow fox!"],
  ["a b c d e", "b x d y e z"],
  ["Grüße, 你好", "Grüße an 你"],
  ["a ".repeat(3000), `${"b ".repeat(3000)}a `],
])("either side can be read from what differs: %#", (a, b) => {
  const parts = diffTexts(a, b);
  expect([side(parts, "added"), side(parts, "removed")]).toEqual([a, b]);
});

test("only whole words differ, and what is the same stays one piece", () => {
  expect(diffTexts("The quick brown fox.", "The slow brown fox.")).toEqual([
    { kind: "same", text: "The " },
    { kind: "removed", text: "quick" },
    { kind: "added", text: "slow" },
    { kind: "same", text: " brown fox." },
  ]);
});
