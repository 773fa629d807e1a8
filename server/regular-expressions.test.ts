import { globSync, readFileSync } from "node:fs";
import { relative } from "node:path";
import ts from "typescript";
import { describe, expect, it, vi } from "vitest";

// Matching must take time in proportion to the text: one pattern that takes the square of it stops the whole process. Every
// pattern of the sources is fed with repetitions of what it is made of itself.

const ROOT = `${import.meta.dirname}/..`;
/** Tools that read only files of the repository. */
const NOT_USERS = /\.test\.tsx?$|^server\/testing\/|^server\/generate\.ts$|\.gen\.ts$/;
const SOURCES = globSync("{server,components,app}/**/*.{ts,tsx}", { cwd: ROOT }).filter((path) => !NOT_USERS.test(path));

/** Modules that make patterns while they load, of texts that are not literals. */
const BUILDERS = [
  "#server/features/workflow-files/secrets.ts",
  "#server/workflow/condition-rows.ts",
  "#server/shared/search-text.ts",
  "#server/runs/effects/condition-sandbox.ts",
] as const;

/** By pattern, the file that it stands in. */
function literals(): Map<string, string> {
  const found = new Map<string, string>();
  for (const path of SOURCES) {
    const source = ts.createSourceFile(path, readFileSync(`${ROOT}/${path}`, "utf8"), ts.ScriptTarget.Latest);
    const visit = (node: ts.Node): void => {
      if (ts.isRegularExpressionLiteral(node)) found.set(node.text, relative(ROOT, `${ROOT}/${path}`));
      ts.forEachChild(node, visit);
    };
    visit(source);
  }
  return found;
}

/** Patterns that modules make with `new RegExp` while they load. */
async function built(): Promise<Map<string, string>> {
  const found = new Map<string, string>();
  let path = "";
  const Original = RegExp;
  class Recording extends Original {
    constructor(source: string | RegExp, flags?: string) {
      super(source, flags);
      found.set(String(this), path);
    }
  }
  vi.stubGlobal("RegExp", Recording);
  vi.resetModules();
  for (path of BUILDERS) await import(path);
  vi.unstubAllGlobals();
  return found;
}

const SIGNS = ["a", "A", "0", "e", ..."-_ \t.:/!\"'[](){}<>\\`*#|=,;+~@%$&^?", "é"];

/** Texts that one element of a pattern matches: of a class a letter or digit of it, and a sign of it. */
function samplesOf(element: string): string[] {
  if (element.length === 1) return [element === "." ? "x" : element];
  const pattern = new RegExp(`^(?:${element})$`, "su");
  const fitting = SIGNS.filter((sign) => pattern.test(sign));
  const word = fitting.find((sign) => /\w/.test(sign));
  const sign = fitting.find((one) => !/[a-z0-9]/i.test(one));
  return [...new Set([word, sign].filter((one) => one !== undefined))];
}

const ELEMENT =
  /\\[pPu](?:\{[^}]*\}|[0-9a-fA-F]{4})?|\\k<\w+>|\\[xc]..|\\[\s\S]|\[(?:\\[\s\S]|[^\]\\])*\]|\(\?(?:<?[=!]|<\w+>|:)?|\{\d+(?:,\d*)?\}|[\s\S]/gu;

/** The elements of a pattern in order, each with the texts that it matches, as often as it must at least. */
function elementsOf(source: string): string[][] {
  const elements: string[][] = [];
  let isWord = false;
  for (const [element] of source.matchAll(ELEMENT)) {
    const times = /^\{(\d+)/.exec(element)?.[1];
    if (times !== undefined) elements.push((elements.pop() ?? []).map((text) => text.repeat(Math.min(Number(times), 60))));
    else if (/^(?:[()|*+?^$]|\(\?.*|\\[bBk].*)$/s.test(element)) continue;
    else if (/^\w$/.test(element) && isWord) elements.push([`${elements.pop()?.[0]}${element}`]);
    else {
      try {
        const samples = samplesOf(element);
        if (samples.length) elements.push(samples);
      } catch {
        // No element by itself, such as a bracket within a class of the flag v.
      }
    }
    isWord = /^\w$/.test(element);
  }
  return elements;
}

const MAX_ELEMENTS = 40;
const MAX_WINDOW = 5;

/** Texts to repeat, each with the text that the pattern needs before it. */
function pumpsOf(source: string): { before: string; unit: string }[] {
  const elements = elementsOf(source).slice(0, MAX_ELEMENTS);
  const pumps = new Map<string, { before: string; unit: string }>();
  for (const variant of [0, 1]) {
    const texts = elements.map((samples) => samples[variant] ?? samples[0] ?? "");
    for (let start = 0; start < texts.length; start++)
      for (let end = start + 1; end <= Math.min(texts.length, start + MAX_WINDOW); end++) {
        const unit = texts.slice(start, end).join("");
        for (const before of ["", "\0", texts.slice(0, start).join("")]) pumps.set(`${before}\n${unit}`, { before, unit });
      }
    const whole = texts.join("");
    pumps.set(`\n${whole}`, { before: "", unit: whole });
  }
  return [...pumps.values()].filter(({ unit }) => unit !== "");
}

/** CPU time of this thread, in milliseconds: the time of the clock would count other processes too. */
function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/** Shortest of several CPU times that a pattern takes for everything in a text, in milliseconds. */
function timeOf(literal: string, text: string, rounds: number): number {
  const end = literal.lastIndexOf("/");
  // Everything is replaced, since a search for one match would end with the first.
  const flags = [...new Set(`${literal.slice(end + 1)}g`)].join("");
  let shortest = Number.POSITIVE_INFINITY;
  for (let round = 0; round < rounds && shortest > QUICK_MS; round++) {
    const began = usedMs();
    text.replace(new RegExp(literal.slice(1, end), flags), "");
    shortest = Math.min(shortest, usedMs() - began);
  }
  return shortest;
}

const SHORT = 1500;
const GROWTH = 16;
/** Too quick to tell growth from noise. A square of 24,000 characters takes more than a hundred times as long. */
const QUICK_MS = 8;

/** Repeated text of a slow pattern, where time grows by more than four times the growth of the text. */
function slowness(literal: string): string | undefined {
  const source = literal.slice(1, literal.lastIndexOf("/"));
  for (const { before, unit } of pumpsOf(source)) {
    // A negated class lists the characters that it excludes.
    const signs = unit.length === 1 ? new Set(source.match(/[^\w\s\\]/g)) : [];
    for (const after of ["\0", "\0\n\0", ...signs]) {
      const text = (length: number) => before + unit.repeat(Math.ceil(length / unit.length)) + after;
      const long = timeOf(literal, text(SHORT * GROWTH), 3);
      if (long <= QUICK_MS) continue;
      const short = timeOf(literal, text(SHORT), 3);
      // A virtual machine counts time that its host takes away, so a suspect is measured again.
      const isSlow = (time: number) => time > 4 * GROWTH * short;
      if (isSlow(long) && isSlow(timeOf(literal, text(SHORT * GROWTH), 5)))
        return JSON.stringify({ before: before.slice(0, 60), unit: unit.slice(0, 60), short, long });
    }
  }
  return undefined;
}

describe("regular expressions", () => {
  it.each([
    ["/^_+|_+$/g"],
    ["/<[^>]*>/g"],
    ["/\\[([^\\]]*)\\]\\([^)]*\\)/g"],
    ["/(?<![A-Za-z0-9])(?:ey)[A-Za-z0-9_-]{15,}\\.ey[\\w-]{15,}/g"],
    ["/<title[^>]*>([^<]*)/i"],
    ["/\\{\\{\\s*([^{}]*)$/"],
  ])("%s is found to be slow", { timeout: 120_000 }, (literal) => expect(slowness(literal)).toBeDefined());

  it("take time in proportion to the text", { timeout: 300_000 }, async () => {
    const patterns = new Map([...literals(), ...(await built())]);
    expect(patterns.size).toBeGreaterThan(400);

    const slow = [...patterns].flatMap(([literal, path]) => {
      const how = slowness(literal);
      return how === undefined ? [] : [`${path}: ${literal}: ${how}`];
    });

    expect(slow).toEqual([]);
  });
});
