import { expect, test } from "vitest";
import { decodeText } from "#server/platform/documents/decode-text.ts";

const utf8 = (text: string) => Buffer.from(text);
const latin1 = (text: string) => Buffer.from(text, "latin1");

test.each([
  ["GBK", "bcdbb8f1b1ed0ac6bbb9fb2cc8fdd4aa0acfe3bdb62ccee5d4aa0a", "价格表\n苹果,三元\n香蕉,五元\n"],
  ["Shift_JIS", "89bf8a69955c0a82e882f182b22c313030897e0a836f836983692c323030897e0a", "価格表\nりんご,100円\nバナナ,200円\n"],
  ["Big5", "bbf9aee6aaed0ac4abaa472ca454a4b80aadbbbfbc2ca4ada4b80a", "價格表\n蘋果,三元\n香蕉,五元\n"],
  ["EUC-KR", "b0a1b0ddc7a50abbe7b0fa2cc3b5bff80a", "가격표\n사과,천원\n"],
  ["windows-1251", "d6e5edfb0adfe1ebeeeae83b33300ac1e0ede0edfb3b35300a", "Цены\nЯблоки;30\nБананы;50\n"],
  ["windows-1250", "a3f3649f3b4b72616bf3773b476461f1736b0a43656e613b496c6f9ce60a", "Łódź;Kraków;Gdańsk\nCena;Ilość\n"],
  ["windows-1252", "4772fcdf6520617573204bf66c6e", "Grüße aus Köln"],
])("detects undeclared %s", async (_, hex, expected) => {
  await expect(decodeText(Buffer.from(hex, "hex"))).resolves.toMatchObject({ text: expected });
});

test("detects the encoding of a few words in a long ASCII text", async () => {
  const rows = "id;name;42\n".repeat(20_000);
  const names = Buffer.from("313bc8e2e0ed20cfe5f2f0eee20a", "hex");

  const { text } = await decodeText(Buffer.concat([utf8(rows), names, utf8(rows)]));

  expect(text.slice(rows.length, -rows.length)).toBe("1;Иван Петров\n");
});

test("takes a single accented letter for Western European", async () => {
  await expect(decodeText(latin1("naïve"))).resolves.toMatchObject({ text: "naïve" });
});

test.each([
  ["undeclared", undefined],
  ["declared", "utf-8"],
  ["wrongly declared", "shift_jis"],
])("keeps %s UTF-8 with one bad byte", async (_, declared) => {
  const bytes = Buffer.concat([utf8("Größe und Übergröße, "), Buffer.from([0xff]), utf8(" für alle")]);

  await expect(decodeText(bytes, declared)).resolves.toMatchObject({ text: "Größe und Übergröße, \ufffd für alle" });
});

test.each([
  ["at its end", utf8("Größe für Größen").subarray(0, -5), "Größe für Gr\ufffd"],
  ["at its beginning", utf8("öffnen für alle").subarray(1), "\ufffdffnen für alle"],
])("keeps UTF-8 that is cut in a character %s", async (_, bytes, expected) => {
  await expect(decodeText(bytes)).resolves.toMatchObject({ text: expected });
});

test("keeps a declared encoding with one bad byte", async () => {
  const bytes = Buffer.concat([Buffer.from("93fa967b8cea", "hex"), Buffer.from([0xff])]);

  await expect(decodeText(bytes, "shift_jis")).resolves.toMatchObject({ text: "日本語\ufffd" });
});

test("keeps UTF-16 that is cut in a character", async () => {
  await expect(decodeText(Buffer.from([0xff, 0xfe, 0x41, 0x00, 0x42]))).resolves.toMatchObject({ text: "A\ufffd" });
});

test("reads a text that is wrongly declared as UTF-8", async () => {
  await expect(decodeText(latin1("Grüße aus Köln"), "utf-8")).resolves.toMatchObject({ text: "Grüße aus Köln" });
});

test("names the charset that it decoded by", async () => {
  await expect(decodeText(Buffer.from("Grüße", "latin1"), "iso-8859-1")).resolves.toMatchObject({ charset: "windows-1252" });
});
