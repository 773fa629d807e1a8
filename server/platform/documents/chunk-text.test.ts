import fc from "fast-check";
import { expect, test } from "vitest";
import { type Chunk, chunkText } from "#server/platform/documents/chunk-text.ts";

const chunk = (text: string, place = ""): Chunk[] => chunkText([{ place, text }]);
const sentence = (number: number) => `Sentence number ${number} says something of its own about the matter at hand.`;
const paragraph = (first: number) => Array.from({ length: 4 }, (_, index) => sentence(first + index)).join(" ");

test("a short text is one piece, with its place", () => {
  expect(chunk("  One paragraph.\n\nAnother one.\n", "Rules › Night")).toEqual([
    { place: "Rules › Night", text: "One paragraph.\n\nAnother one." },
  ]);
});

test("pieces end where paragraphs end, and begin with the last sentence before", () => {
  const paragraphs = Array.from({ length: 12 }, (_, index) => paragraph(index * 4));
  const chunks = chunk(paragraphs.join("\n\n"));
  expect(chunks.length).toBeGreaterThan(3);
  for (const [index, { text }] of chunks.entries()) {
    expect(text.length).toBeLessThanOrEqual(1000);
    expect(paragraphs.some((one) => text.endsWith(one))).toBe(true);
    if (index === 0) continue;
    const overlap = text.split("\n\n")[0] ?? "";
    expect(overlap).toMatch(/^Sentence number/);
    expect(chunks[index - 1]?.text.endsWith(overlap)).toBe(true);
  }
});

test("a paragraph that is too long is cut between sentences, and a sentence that is too long between words", () => {
  for (const { text } of chunk(Array.from({ length: 60 }, (_, index) => sentence(index)).join(" ")))
    expect(text).toMatch(/^Sentence .*hand\.$/s);
  const words = new Set(Array.from({ length: 900 }, (_, index) => `word${index}`));
  const pieces = chunk([...words].join(" "));
  expect(pieces.length).toBeGreaterThan(5);
  for (const { text } of pieces) for (const word of text.split(" ")) expect(words).toContain(word);
});

test("a language without blanks is cut between its words", () => {
  const text = "我们在北京学习中文和数学因为老师很好".repeat(150);
  const pieces = chunk(text);
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) {
    expect(piece.text.length).toBeLessThanOrEqual(1000);
    expect(piece.text).not.toMatch(/^京|^们|北$/);
  }
});

test("no piece reaches beyond its section", () => {
  const sections = ["a", "b", "c"].map((name) => ({ place: `Page ${name}`, text: `${name.repeat(40)} `.repeat(30) }));
  for (const { place, text } of chunkText(sections)) expect(text).toMatch(new RegExp(`^[${place.at(-1)} ]+$`));
});

test("whatever the text: pieces are of it, in order, leave nothing out and are bounded", () => {
  const letters = fc.stringMatching(/^[a-zäß漢字😀]{1,14}$/u);
  const gap = fc.constantFrom(" ", " ", " ", ". ", "\n", "\n\n", " \n \n\n", "\t");
  const text = fc.array(fc.tuple(letters, gap), { maxLength: 900 }).map((parts) => parts.flat().join(""));
  fc.assert(
    fc.property(text, (whole) => {
      let reached = 0;
      for (const piece of chunk(whole)) {
        expect(piece.text.length).toBeLessThanOrEqual(1000);
        expect(piece.text.isWellFormed()).toBe(true);
        const at = whole.indexOf(piece.text, Math.max(0, reached - 160 - 20));
        expect(at).toBeGreaterThanOrEqual(0);
        // What lies between two pieces is blank.
        if (at > reached) expect(whole.slice(reached, at).trim()).toBe("");
        reached = Math.max(reached, at + piece.text.length);
      }
      expect(whole.slice(reached).trim()).toBe("");
    }),
    { numRuns: 200 },
  );
});

test("a log of hundreds of thousands of lines is cut like any other text", () => {
  const lines = Array.from({ length: 300_000 }, (_, index) => `${index} ok`).join("\n");
  const pieces = chunk(lines);
  expect(pieces[0]?.text).toMatch(/^0 ok\n1 ok\n/);
  expect(pieces.at(-1)?.text).toMatch(/299999 ok$/);
});
