import { expect, test } from "vitest";
import { findText } from "#server/shared/find-text.ts";
import { containsWords, filterByText, foldAccents, foldText, nameKey } from "#server/shared/fold-text.ts";

test.each([
  ["French", "entreprise", "L’entreprise"],
  ["French accents", "deja vu", "Déjà vu"],
  ["French ligature", "oeuvre", "Œuvre complète"],
  ["German soft hyphen", "Wasserwerk", "Wasser\u00adwerk"],
  ["German sharp s", "STRASSE", "Straße"],
  ["German umlaut", "kuhlschrank", "Kühlschrank"],
  ["Turkish capital", "istanbul", "İstanbul"],
  ["Turkish dotless i", "diyarbakir", "Diyarbakır"],
  ["Turkish in ASCII capitals", "ISPARTA", "ısparta"],
  ["Greek final sigma", "ΟΔΟΣ", "οδός"],
  ["Greek final sigma within", "ὁδόσ", "οδος"],
  ["Russian ё", "елка", "Ёлка"],
  ["Korean", "환불", "환불은"],
  ["Korean in NFD", "환불".normalize("NFD"), "환불은"],
  ["Japanese half width", "サーバー", "ｻｰﾊﾞｰ"],
  ["Thai", "ภาษา", "ภาษาไทย"],
  ["Arabic presentation forms", "سلام", "ﺳﻼﻡ"],
  ["Hindi", "हिन्दी", "हिन्\u200dदी भाषा"],
  ["Persian without a ZWNJ", "میخواهم", "می\u200cخواهم"],
  ["file name in NFD", "Übersicht.pdf", "Übersicht.pdf".normalize("NFD")],
  ["full width", "ABC", "ａｂｃ"],
  ["Polish ł", "lodz", "Łódź"],
  ["Vietnamese", "duong pho", "Đường phố"],
])("%s: finds the text", (_, search, text) => {
  expect(containsWords(text, search)).toBe(true);
});

test.each([
  ["Japanese dakuten", "か", "がく"],
  ["Russian й", "краи", "край"],
  ["Thai vowel sign", "กา", "กี"],
  ["Hindi vowel sign", "कि", "का"],
  ["Korean final consonant", "화", "환불"],
])("%s: does not find another letter", (_, search, text) => {
  expect(containsWords(text, search)).toBe(false);
});

test("keeps accents in the exact form", () => {
  expect([foldText("CAFÉ"), foldAccents("CAFÉ")]).toEqual(["café", "cafe"]);
});

test("lists items with the accents of the query first", () => {
  const names = ["Cafeteria", "Café Central", "Tea"];

  expect(filterByText(names, "café", (name) => name)).toEqual(["Café Central", "Cafeteria"]);
  expect(filterByText(names, "cafe", (name) => name)).toEqual(["Cafeteria", "Café Central"]);
});

test("lists all items for an empty query", () => {
  expect(filterByText(["b", "a"], " ", (name) => name)).toEqual(["b", "a"]);
});

test.each([
  ["Zum Wasser\u00adwerk links", "wasserwerk", "Wasser\u00adwerk"],
  ["Die Straße", "strasse", "Straße"],
  ["Un café noir", "CAFE", "café"],
  ["Un cafe\u0301 noir", "café", "cafe\u0301"],
  ["환불은", "환불", "환불"],
])("finds in %j the range of %j", (text, query, found) => {
  const range = findText(text, query);

  expect(text.slice(range?.start, range?.end)).toBe(found);
});

test("finds no range of a text that does not contain the query", () => {
  expect(findText("Un café", "thé")).toBeNull();
  expect(findText("Un café", "")).toBeNull();
});

test("takes names for the same by NFKC in any case, with their accents", () => {
  expect(nameKey("Ａgent É")).toBe(nameKey("agent e\u0301"));
  expect(nameKey("Café")).not.toBe(nameKey("Cafe"));
});

test("keeps at most 30 combining marks of a letter", () => {
  expect(foldText(`e${"\u0301\u0323".repeat(1_000_000)}x`).length).toBeLessThan(100);
  expect(foldAccents(`e${"\u0301\u0323".repeat(1_000_000)}x`)).toBe("ex");
});
