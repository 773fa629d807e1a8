import { expect, test } from "vitest";
import { accentFreeText, earlierSearchWords, searchText, searchWords, wordsQuery } from "#server/shared/search-text.ts";

test.each([
  ["L’entreprise d'accord", ["l", "entreprise", "d", "accord"]],
  ["Wasser\u00adwerk", ["wasserwerk"]],
  ["„Straße“ — «größe»", ["strasse", "grosse"]],
  ["İstanbul ışık", ["istanbul", "isik"]],
  ["ΟΔΟΣ", ["οδοσ"]],
  ["Ёлка край", ["елка", "край"]],
  ["환불은 가능", ["환불", "불은", "가능"]],
  ["サーバー障害", ["サー", "ーバ", "バー", "ー障", "障害"]],
  ["ภาษา", ["ภา", "าษ", "ษา"]],
  ["می\u200cخواهم", ["میخواهم"]],
  ["हिन्दी भाषा", ["हिन्दी", "भाषा"]],
  ["اَلسَّلَامُ", ["اَلسَّلَامُ"]],
])("splits %j into words", (text, words) => {
  expect(searchWords(text, 100)).toEqual(words);
});

test("keeps accents in the indexed text", () => {
  expect(searchText("Le “Café”")).toBe("le  café ");
});

test("repeats only words that have accents", () => {
  expect(accentFreeText(searchText("Le café d’été est bon"))).toBe("cafe ete");
});

test("stops at the limit of words", () => {
  expect(searchWords("a b c d", 2)).toEqual(["a", "b"]);
});

test("asks for the words of either form when they differ", () => {
  const query = "Wasser\u00adwerk";

  expect(wordsQuery(searchWords(query, 9), earlierSearchWords(query, 9))).toBe("('wasserwerk':*) | ('wasser':* & 'werk':*)");
});

test("asks once for words that are the same in both forms", () => {
  expect(wordsQuery(["invoice"], ["invoice"])).toBe("('invoice':*)");
});
