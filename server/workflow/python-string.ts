// Texts as Python writes them between quotes. Pure and browser-safe.

/** A text as a Python literal, in double quotes. JSON's escapes mean the same in Python; half a surrogate pair means nothing there. */
export const pythonString = (text: string): string => JSON.stringify(text.toWellFormed());

const ESCAPES: Readonly<Record<string, string>> = { a: "\x07", b: "\b", f: "\f", n: "\n", r: "\r", t: "\t", v: "\v", "\n": "" };

/** What stands between the quotes of a literal without a prefix, as the text that it means. */
export const unescaped = (inner: string): string =>
  inner.replace(/\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|([\s\S]))/g, (_, x, u, wide, letter: string) => {
    const code = x ?? u ?? wide;
    if (code !== undefined) return Number.parseInt(code, 16) > 0x10ffff ? "" : String.fromCodePoint(Number.parseInt(code, 16));
    return Object.hasOwn(ESCAPES, letter)
      ? (ESCAPES[letter] ?? "")
      : letter === "\\" || letter === '"' || letter === "'"
        ? letter
        : `\\${letter}`;
  });
