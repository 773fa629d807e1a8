import { expect, test } from "vitest";
import { excerptOf, finderOf } from "#components/runs/list/excerpt.ts";

const foundIn = (text: string, q: string): string | undefined => {
  const finder = finderOf(q);
  return finder ? excerptOf([text], finder)?.match(finder)?.[0]?.normalize("NFC") : undefined;
};

test.each([
  ["cafe", "Un Café noir", "Café"],
  ["café", "Un cafe noir", "cafe"],
  ["entreprise", "L’entreprise", "entreprise"],
  ["Wasserwerk", "Das Wasser\u00adwerk", "Wasser\u00adwerk"],
  ["istanbul", "In İstanbul", "İstanbul"],
  ["환불", "그리고 환불은", "환불"],
  ["inv", "An invoice", "inv"],
])("marks by %s in %s", (q, text, marked) => {
  expect(foundIn(text, q)).toBe(marked);
});

test("marks nothing within a word", () => {
  expect(foundIn("reinvented", "inv")).toBeUndefined();
  expect(foundIn("éinv", "inv")).toBeUndefined();
});
