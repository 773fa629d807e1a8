import { expect, test } from "vitest";
import { visibleName, visibleText } from "#server/shared/visible-text.ts";

const HIDDEN = [0x200b, 0x2060, 0xfeff, 0x202a, 0x202b, 0x202c, 0x202d, 0x202e, 0x2066, 0x2067, 0x2068, 0x2069];

test.each(HIDDEN)("character %i is shown as an escape", (code) => {
  const shown = `\\u${code.toString(16).toUpperCase()}`;

  expect(visibleText(`a${String.fromCharCode(code)}b`)).toBe(`a${shown}b`);
  expect(visibleName(`a${String.fromCharCode(code)}b`)).toBe(`a${shown}b`);
});

test("joiners stay in text", () => {
  expect(visibleText("می‌خواهم 👩‍💻")).toBe("می‌خواهم 👩‍💻");
});

test("joiners are shown as escapes in names", () => {
  expect(visibleName("pay\u200Cpal\u200D.com")).toBe("pay\\u200Cpal\\u200D.com");
});
