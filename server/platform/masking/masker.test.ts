import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { MASK, maskerInSlices, maskerOf, unmasked } from "#server/platform/masking/masker.ts";
import { anyCharacter } from "#server/testing/any-character.ts";
import { times } from "#server/testing/times.ts";

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

  it.each([
    ["in Markdown", "see pass\\_word\\-4\\!2 here", "see •••• here"],
    ["in capitals", "PASS_WORD-4!2 Pass_Word-4!2", "•••• ••••"],
    ["in HTML", "<b>pass&lowbar;word&#45;4&#x21;2</b>", "<b>••••</b>"],
    ["with every character encoded", "%70%61%73%73%5f%77%6F%72%64%2d%34%21%32", MASK],
    ["in part encoded", "pa%73s_%77ord-4%212", MASK],
    ["in hexadecimal", "0x706173735F776f72642d342132, 70:61:73:73:5f:77:6f:72:64:2d:34:21:32", "0x••••, ••••"],
    ["as a program prints it", "\\x70ass\\u005fword-4!2", MASK],
    [
      "behind what looks like the beginning of an escape",
      "100%pass_word-4!2, \\upass_word-4!2, &pass_word-4!2;",
      "100%••••, \\u••••, &••••;",
    ],
    ["in JSON within JSON within JSON", JSON.stringify(JSON.stringify(JSON.stringify("pass_word-4!2"))), expect.stringContaining(MASK)],
  ])("is masked %s", (_, text, shown) => expect(masked(text, "pass_word-4!2")).toEqual(shown));

  it("is masked in the other case also where that has more letters", () => {
    expect(masked("STRASSE-12 straße-12 Straße-12", "Straße-12")).toBe("•••• •••• ••••");
  });

  it.each(["", "u", "us", "user:", "someone:"])("is masked in Base64 after %j", (before) => {
    const secret = "hunter2-and-more";
    const encoded = Buffer.from(`${before}${secret}`).toString("base64");
    const shown = masked(`Basic ${encoded}`, secret);
    expect(shown).toContain(MASK);
    for (let length = 12; length <= encoded.length; length++)
      expect(shown).not.toContain(encoded.slice(-length).replaceAll("=", "").slice(0, 12));
    expect(masked(Buffer.from(`${before}${secret}?>`).toString("base64url"), secret)).toContain(MASK);
  });

  // Each took minutes when every way to read a text was followed to its end.
  it.each([
    ["backslashes", "\\".repeat(5000), "\\".repeat(500_000)],
    ["escapes in it", "%41".repeat(1000), "%41%41%4".repeat(60_000)],
    ["entities", "&amp;".repeat(500), "&amp;amp;".repeat(50_000)],
    ["signs of blanks", "+ ".repeat(2000), "+ ++".repeat(100_000)],
    ["one letter that stands escaped", "a".repeat(20_000), "%61".repeat(60_000)],
  ])("of a secret of %s is gone through in time in proportion to its length", (_, secret, text) => {
    expect(masked(text, secret).length).toBeLessThanOrEqual(text.length);
  });

  it("is gone through in time in proportion to its length", () => {
    const secret = "a".repeat(5000);
    expect(masked("a".repeat(1_000_000), secret)).toBe(MASK);
    expect(masked(`${"a".repeat(4999)}b`.repeat(200), secret)).toBe(`${"a".repeat(4999)}b`.repeat(200));
  });
});

describe("many or long secrets", () => {
  // A character for each secret, so that no two go on alike.
  const mark = (index: number) => String.fromCharCode(0x4e00 + index);

  it.each([
    ["begin with the same letter", (index: number) => `s${mark(index)}${index}-secret`, "s"],
    ["begin with each other", (index: number) => `${"%61".repeat(index + 2)}${mark(index)}`, "%61"],
  ])("that %s are looked for in time in proportion to the text", (_, secretOf, unit) => {
    const masker = maskerOf(Array.from({ length: 350 }, (__, index) => secretOf(index)));
    const text = unit.repeat(2_000_000 / unit.length);

    expect(masker.text(`${text} ${secretOf(3)}`)).toBe(`${text} ${MASK}`);
  });

  it("are found like single ones", () => {
    const letters = fc.array(fc.constantFrom("x", "y", "z"), { minLength: 6, maxLength: 9 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(fc.array(letters, { minLength: 1, maxLength: 12 }), fc.array(letters, { maxLength: 30 }), (secrets, parts) => {
        const text = parts.join("");
        const isSecret = Array.from(text, () => false);
        const joints = Array.from(text, () => false);
        for (const secret of secrets)
          for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1))
            for (let index = at; index < at + secret.length; index++) {
              isSecret[index] = true;
              if (index > at) joints[index] = true;
            }
        const shown = Array.from(text, (one, at) => (!isSecret[at] ? one : joints[at] ? "" : MASK)).join("");

        expect(masked(text, ...secrets)).toBe(shown);
      }),
      { numRuns: times(300) },
    );
  });

  it("need memory in proportion to their length, whatever characters they have", () => {
    const secret = String.fromCharCode(...Array.from({ length: 20_000 }, (_, index) => 0x4e00 + index));
    const before = process.memoryUsage().arrayBuffers;
    const masker = maskerOf([secret]);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024);
    expect(masker.text(`<${secret}> ${encodeURIComponent(secret)}`)).toBe(`<${MASK}> ${MASK}`);
  });

  it("are refused before they fill the memory", () => {
    const secrets = Array.from({ length: 11 }, (_, index) => String(index % 10).repeat(20_000 - index));
    expect(() => maskerOf(secrets)).toThrow("more than 200000 characters together");
  });
});

it("goes into values, keys included, and keeps what is no text", () => {
  const value = { url: "x?k=sesame-42", list: [1, null, true, "sesame-42"], "sesame-42": { deep: ["sesame-42!"] } };
  expect(maskerOf(["sesame-42"]).deep(value)).toEqual({ url: "x?k=••••", list: [1, null, true, MASK], "••••": { deep: ["••••!"] } });
  const row = { id: "sesame-42", output: "sesame-42", error: null, at: new Date(0) };
  expect(maskerOf(["sesame-42"]).fields(row, ["output", "error", "at"])).toEqual({ ...row, output: MASK });
});

describe("long work", () => {
  beforeEach(() => new Promise<void>(setImmediate)); // a turn of the event loop without time of another clock
  afterEach(() => void vi.restoreAllMocks());

  /** Every look at the clock finds that a slice of time is over. */
  function countTurns() {
    let time = performance.now();
    vi.spyOn(performance, "now").mockImplementation(() => (time += 10));
    const turns = { count: 0, stop: () => clearImmediate(next) };
    let next = setImmediate(function turn() {
      turns.count++;
      next = setImmediate(turn);
    });
    return turns;
  }

  it("yields to the event loop every 16,384 characters of a text", async () => {
    const text = "a".repeat(1024 * 1024);
    const masker = maskerOf(["sesame-42"]);
    const turns = countTurns();

    const shown = await masker.inSlices({ text: `${text}sesame-42` });
    turns.stop();

    expect(shown).toEqual({ text: `${text}${MASK}` });
    expect(turns.count).toBeGreaterThanOrEqual(64);
  });

  it("yields to the event loop at every object of a value", async () => {
    const value = Array.from({ length: 500 }, () => ({ a: "sesame-42" }));
    const masker = maskerOf(["sesame-42"]);
    const turns = countTurns();

    const shown = await masker.inSlices(value);
    turns.stop();

    expect(shown).toEqual(value.map(() => ({ a: MASK })));
    expect(turns.count).toBeGreaterThanOrEqual(500);
  });

  it("yields to the event loop while secrets are prepared", async () => {
    const turns = countTurns();

    const masker = await maskerInSlices(Array.from({ length: 300 }, (_, index) => `secret-number-${index}`));
    turns.stop();

    expect(masker.text("secret-number-299")).toBe(MASK);
    expect(turns.count).toBeGreaterThanOrEqual(300);
  });
});

describe("a stream", () => {
  it("masks a secret at its end that looks like the beginning of an escape", () => {
    const stream = maskerOf(["sesame-%F"]).stream();

    expect(stream.push("<sesame-%F")).toBe("<");
    expect(stream.end()).toBe(MASK);
  });

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
        // To make a masker takes most of the time of a case.
        const masker = maskerOf(known);
        const stream = masker.stream();
        // The end is one that no secret goes on with, so nothing is held back.
        const shown = [...chunks, "§§§§§§"].map((chunk) => stream.push(chunk));
        expect(shown.join("")).toBe(masker.text(`${text}§§§§§§`));
      }),
      { numRuns: times(300) },
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
      { numRuns: times(75) },
    );
  });
});

describe("any secret, written in any way between anything", () => {
  const hex = (code: number, digits: number) => code.toString(16).padStart(digits, "0");
  type Spelling = (character: string) => string;
  const inUtf8: Spelling = (character) => [...Buffer.from(character)].map((byte) => `%${hex(byte, 2)}`).join("");
  /** Ways to write one character; each may be chosen for each. */
  const spellings: Spelling[] = [
    (character) => character,
    (character) => (character.toUpperCase().length === character.length ? character.toUpperCase() : character),
    (character) => (character.toLowerCase().length === character.length ? character.toLowerCase() : character),
    (character) => character.replace(/[!-/:-@[-`{-~]/, "\\$&"),
    (character) => JSON.stringify(character).slice(1, -1),
    (character) => JSON.stringify(JSON.stringify(character).slice(1, -1)).slice(1, -1),
    inUtf8,
    (character) => inUtf8(character).toUpperCase(),
    (character) => [...Array(character.length).keys()].map((at) => `\\u${hex(character.charCodeAt(at), 4)}`).join(""),
    (character) => `&#${character.codePointAt(0)};`,
    (character) => `&#x${hex(character.codePointAt(0) ?? 0, 1)};`,
    (character) => character.replace(/[&<>"']/, (one) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[one] ?? "&apos;"),
  ];
  const character = fc.oneof(fc.constantFrom(..."aZ09_-*&%+\\\"'<#;:u x"), fc.constantFrom("é", "ß", "€", "🧵"));
  const secret = fc
    .tuple(fc.array(character, { minLength: 6, maxLength: 30 }), fc.constantFrom(...spellings.keys(), undefined))
    .map(([characters, only]) => ({ characters, only }));
  const around = fc.array(fc.constantFrom("%", "%4", "\\u00", "\\x", "&#", "&am", "q", "Q", "7", "=", "\n", "wort "), { maxLength: 6 });
  const texts = fc.tuple(
    secret,
    fc.array(fc.nat({ max: spellings.length - 1 }), { minLength: 30, maxLength: 30 }),
    around.map((parts) => parts.join("")),
    around.map((parts) => parts.join("")),
    fc.array(fc.nat({ max: 9 }), { minLength: 1, maxLength: 30 }),
  );

  it("is masked, and nothing else is", () => {
    fc.assert(
      fc.property(texts, ([{ characters, only }, chosen, before, after, cuts]) => {
        const written = characters.map((one, at) => spellings[only ?? chosen[at] ?? 0]?.(one) ?? one).join("");
        const text = `${before}${written}${after}§§§§§§`;
        const shown = masked(text, characters.join(""));
        expect(shown).toContain(MASK);
        // What escapes the first character may be left, and a secret that repeats itself may be found a little further on.
        const rest = shown.replaceAll(MASK, "");
        expect(rest.length).toBeLessThanOrEqual(before.length + after.length + 6 + 12);
        expect(rest.endsWith("§§§§§§")).toBe(true);
        const pieces = [...text].reduce<string[][]>(
          (chunks, one, at) => {
            if (at % ((cuts[chunks.length % cuts.length] ?? 1) + 1) === 0) chunks.push([]);
            chunks.at(-1)?.push(one);
            return chunks;
          },
          [[]],
        );
        expect(
          streamed(
            pieces.map((chunk) => chunk.join("")),
            characters.join(""),
          ).join(""),
        ).toBe(shown);
      }),
      { numRuns: times(100) },
    );
  });

  it("is masked in hexadecimal and in Base64", () => {
    const encoded = fc.constantFrom<(bytes: Buffer) => string>(
      (bytes) => bytes.toString("hex"),
      (bytes) => bytes.toString("hex").toUpperCase(),
      (bytes) => bytes.toString("base64").replaceAll("=", ""),
      (bytes) => bytes.toString("base64url"),
    );
    fc.assert(
      fc.property(secret, encoded, around, ({ characters }, encode, before) => {
        const text = encode(Buffer.from(characters.join("")));
        const shown = masked(`${before.join("")} ${text}`, characters.join(""));
        // The last letter of Base64 has less of the secret than says anything.
        expect([`${before.join("")} ${MASK}`, `${before.join("")} ${MASK}${text.at(-1)}`]).toContain(shown);
      }),
      { numRuns: times(100) },
    );
  });

  it("leaves every other text as it is", () => {
    const text = fc.array(
      fc.oneof(
        around.map((parts) => parts.join("")),
        fc.string({ unit: anyCharacter, maxLength: 40 }),
      ),
      { maxLength: 12 },
    );
    const masker = maskerOf(["correct-horse-7", "x".repeat(40)]);
    fc.assert(
      fc.property(text, (parts) => {
        const whole = parts.join("");
        expect(masker.text(whole)).toBe(whole);
      }),
      { numRuns: times(75) },
    );
  });
});
