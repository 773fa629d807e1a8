import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { MASK, maskerOf, unmasked } from "#server/engine/masker.ts";

const masked = (text: string, ...secrets: string[]) => maskerOf(secrets).text(text);
const streamed = (pieces: readonly string[], ...secrets: string[]) => {
  const stream = maskerOf(secrets).stream();
  return pieces.map((piece) => stream.push(piece));
};

describe("a text", () => {
  it.each([
    ["The key is sesame-42, remember sesame-42.", "The key is ••••, remember ••••."],
    ["sesame-42sesame-42", "••••••••"],
    ["sesame-4 2 sesame-4", "sesame-4 2 sesame-4"],
    ["", ""],
  ])("%s", (text, shown) => expect(masked(text, "sesame-42")).toBe(shown));

  it("leaves nothing of secrets that overlap, nor of one inside another", () => {
    expect(masked("abcdefghij", "abcdef", "efghij")).toBe(MASK);
    expect(masked("<abcdefghij> <cdefgh>", "cdefgh", "abcdefghij")).toBe(`<${MASK}> <${MASK}>`);
    expect(masked("abcdefgabcdefgh", "abcdefgh", "bcdefgabc")).toBe(`a${MASK}`);
    expect(masked("aaaaaaaaaaaaaaaaab", "aaaaaa")).toBe(`${MASK}b`);
  });

  it("is masked from six characters on", () => {
    expect(masked("12345 123456", "12345")).toBe("12345 123456");
    expect(masked("12345 123456", "123456")).toBe(`12345 ${MASK}`);
    expect(maskerOf(["12345"])).toBe(unmasked);
    expect(maskerOf([])).toBe(unmasked);
  });

  const odd = 'a "b" \\ c\nd/é+ü?&€';
  it.each([
    ["in JSON", JSON.stringify({ text: `<${odd}>` }), '{"text":"<••••>"}'],
    ["in JSON inside JSON", JSON.stringify(JSON.stringify(odd)), '"\\"••••\\""'],
    ["in JSON that is ASCII only", '"a \\"b\\" \\\\ c\\nd/\\u00e9+\\u00fc?&\\u20ac"', '"••••"'],
    ["in a URL", `https://x.example/?q=${encodeURIComponent(odd)}`, "https://x.example/?q=••••"],
    ["in a URL of small letters", encodeURIComponent(odd).replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()), MASK],
    ["in an address that was read", new URL(`https://x.example/${odd.replace(/[\\\n?]/g, "")}`).href, "https://x.example/••••"],
    ["in a form", encodeURIComponent(odd).replaceAll("%20", "+"), MASK],
    ["in one line", odd.replace(/\s+/g, " "), MASK],
  ])("is masked %s", (about, text, shown) =>
    expect(masked(text, about.includes("address") ? odd.replace(/[\\\n?]/g, "") : odd)).toBe(shown),
  );

  it.each(["", "u", "us", "user:", "someone:"])("is masked in Base64 after %j", (before) => {
    const secret = "hunter2-and-more";
    const encoded = Buffer.from(`${before}${secret}`).toString("base64");
    const shown = masked(`Basic ${encoded}`, secret);
    expect(shown).toContain(MASK);
    for (let length = 12; length <= encoded.length; length++)
      expect(shown).not.toContain(encoded.slice(-length).replaceAll("=", "").slice(0, 12));
    expect(masked(Buffer.from(`${before}${secret}?>`).toString("base64url"), secret)).toContain(MASK);
  });

  it("is gone through in time in proportion to its length", () => {
    const secret = "a".repeat(5000);
    expect(masked("a".repeat(1_000_000), secret)).toBe(MASK);
    expect(masked(`${"a".repeat(4999)}b`.repeat(200), secret)).toBe(`${"a".repeat(4999)}b`.repeat(200));
  });
});

it("goes into values, keys included, and keeps what is no text", () => {
  const value = { url: "x?k=sesame-42", list: [1, null, true, "sesame-42"], "sesame-42": { deep: ["sesame-42!"] } };
  expect(maskerOf(["sesame-42"]).deep(value)).toEqual({ url: "x?k=••••", list: [1, null, true, MASK], "••••": { deep: ["••••!"] } });
  const row = { id: "sesame-42", output: "sesame-42", error: null, at: new Date(0) };
  expect(maskerOf(["sesame-42"]).fields(row, ["output", "error", "at"])).toEqual({ ...row, output: MASK });
});

describe("a stream", () => {
  it("holds back what may be the beginning of a secret, and no more", () => {
    expect(streamed(["The key is ses", "ame", "-42. Really: sesa", "m", "i seed."], "sesame-42")).toEqual([
      "The key is ",
      "",
      "••••. Really: ",
      "",
      "sesami seed.",
    ]);
  });

  it("shows one mask for secrets that overlap across pieces", () => {
    expect(streamed(["abcdef", "gh", "ij!"], "abcdef", "efghij")).toEqual([MASK, "", "!"]);
    expect(streamed([..."aaaaaaaaaaaab"], "aaaaaa").join("")).toBe(`${MASK}b`);
    expect(streamed(["abcdefghij", " abcdef", " "], "abcdef", "abcdefghij").join("")).toBe(`${MASK} ${MASK} `);
  });

  // Few letters, so that secrets repeat, overlap and nearly occur.
  const letters = fc.constantFrom("a", "b", "c", '"', "%", " ", "\n", "é");
  const secret = fc.array(letters, { minLength: 6, maxLength: 10 }).map((parts) => parts.join(""));
  const secrets = fc.array(secret, { minLength: 1, maxLength: 4 });
  const pieces = secrets.chain((known) => {
    const piece = fc.oneof(letters, letters, fc.constantFrom(...known), fc.constantFrom(...known.map((text) => JSON.stringify(text))));
    return fc.tuple(fc.constant(known), fc.array(piece, { maxLength: 40 }), fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 60 }));
  });

  it("says the same as the whole text masked at once, however it is cut", () => {
    fc.assert(
      fc.property(pieces, ([known, parts, cuts]) => {
        const text = parts.join("");
        const chunks: string[] = [];
        for (let at = 0, n = 0; at < text.length; n++) {
          const length = Math.max(n >= cuts.length ? 1 : 0, cuts[n % cuts.length] ?? 1);
          chunks.push(text.slice(at, at + length));
          at += length;
        }
        // The end is one that no secret goes on with, so nothing is held back.
        expect(streamed([...chunks, "§§§§§§"], ...known).join("")).toBe(masked(`${text}§§§§§§`, ...known));
      }),
      { numRuns: 2000 },
    );
  });

  it("leaves no secret and shows everything else", () => {
    fc.assert(
      fc.property(pieces, ([known, parts]) => {
        const shown = masked(parts.join(""), ...known);
        for (const secret of known) expect(shown).not.toContain(secret);
        // What is left between masks stands in the text, in order.
        let at = 0;
        for (const rest of shown.split(MASK)) {
          const found = parts.join("").indexOf(rest, at);
          expect(found).toBeGreaterThanOrEqual(at);
          at = found + rest.length;
        }
      }),
      { numRuns: 1000 },
    );
  });
});
