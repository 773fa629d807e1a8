import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { anchorOf } from "#server/shared/anchor.ts";
import { foldAccents } from "#server/shared/fold-text.ts";

/** A part of a page of the guide, from one heading to the next. */
interface Section {
  /** Such as `/docs/triggers#webhook`. */
  path: string;
  /** Title of the page, and the headings that it stands under. */
  title: string;
  text: string;
  /** How often each word is in it; those of the title count for more. */
  words: ReadonlyMap<string, number>;
}

/** The folder of the sources: this file's, unless what is run was put elsewhere. */
const roots = [join(import.meta.dirname, "../../.."), process.cwd()];
const FOLDER = "app/docs";
const IN_TITLE = 4;
const MOST_TEXT = 1600;
/** What a model is shown. */
const FOUND = 4;

const COMMON = new Set(
  "a an and are as at be by can do does for from has have how i if in is it its my of on or that the this to was what when where which who why with you your".split(
    " ",
  ),
);

/** The words of a text as they are counted: endings off, so that "schedules" finds "schedule". */
const wordsOf = (text: string): string[] =>
  (foldAccents(text).match(/[\p{L}\p{N}_]{2,}/gu) ?? [])
    .filter((word) => !COMMON.has(word))
    .map((word) => (word.length > 4 ? word.replace(/(ies|ing|ed|es|s|e|y)$/, "") : word));

function sectionOf(path: string, title: string, text: string): Section {
  const words = new Map<string, number>();
  const count = (list: string[], weight: number) => {
    for (const word of list) words.set(word, (words.get(word) ?? 0) + weight);
  };
  count(wordsOf(title), IN_TITLE);
  count(wordsOf(text), 1);
  return { path, title, text, words };
}

/** A chapter's text as it is read: examples in their place, no markup of ours. */
const readable = (mdx: string, exampleOf: (file: string) => string): string =>
  mdx
    .replace(/^export .*$/gm, "")
    .replace(/<Example file="([^"]+)"[^<>]*\/>/g, (_, file: string) => exampleOf(file))
    .replace(/<[A-Z][^<>]*\/>/g, "")
    .replace(/\n{3,}/g, "\n\n");

/** The sections of one chapter. */
export function sectionsOf(mdx: string, address: string, exampleOf: (file: string) => string): Section[] {
  let headings: string[] = [];
  let lines: string[] = [];
  let path = address;
  let isCode = false;
  const sections: Section[] = [];
  const close = () => {
    const text = lines.join("\n").trim();
    if (text !== "") sections.push(sectionOf(path, headings.join(" · "), text));
    lines = [];
  };
  for (const line of readable(mdx, exampleOf).split("\n")) {
    if (line.startsWith("```")) isCode = !isCode;
    const [, marks = "", title = ""] = (!isCode && /^(#{1,3}) (.+)$/.exec(line)) || [];
    if (marks === "") lines.push(line);
    else {
      close();
      const heading = title.replaceAll("`", "");
      headings = [...headings.slice(0, marks.length - 1), heading];
      path = marks.length === 1 ? address : `${address}#${anchorOf(heading)}`;
    }
  }
  close();
  return sections;
}

function readGuide(): Section[] {
  const folder = roots.map((root) => join(root, FOLDER)).find((path) => existsSync(path));
  if (!folder) return [];
  const exampleOf = (file: string) => `\`\`\`\n${readFileSync(join(folder, "examples", file), "utf8").slice(0, MOST_TEXT)}\n\`\`\``;
  const pages = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) => /(^|\/)page\.mdx$/.test(file));
  return pages.flatMap((file) => {
    const address = `/docs/${file.replace(/\/?page\.mdx$/, "")}`.replace(/\/$/, "");
    return sectionsOf(readFileSync(join(folder, file), "utf8"), address, exampleOf);
  });
}

let known: Section[] | undefined;

/** Words of the guide that begin with one that is nowhere in it, as while somebody is typing. */
const beginningWith = (all: readonly Section[], word: string): string[] =>
  word.length < 3 ? [] : [...new Set(all.flatMap(({ words }) => [...words.keys()].filter((known) => known.startsWith(word))))].slice(0, 5);

/**
 * The sections of the guide that have most to do with the words of a question, in English as the guide is; the best first.
 * @param most how many at the most
 */
export function searchGuide(query: string, most = FOUND): { path: string; title: string; text: string }[] {
  known ??= readGuide();
  const all = known;
  const wanted = new Set(wordsOf(query).flatMap((word) => (all.some(({ words }) => words.has(word)) ? [word] : beginningWith(all, word))));
  const weights = new Map(
    [...wanted].map((word) => [word, Math.log(1 + all.length / (1 + all.filter(({ words }) => words.has(word)).length))]),
  );
  const scored = all.map((section) => {
    let score = 0;
    for (const [word, weight] of weights) score += weight * Math.log(1 + (section.words.get(word) ?? 0));
    // A long section has every word.
    return { section, score: score / Math.log(10 + section.text.length / 200) };
  });
  return scored
    .filter(({ score }) => score > 0)
    .sort((a, b) => b.score - a.score)
    .slice(0, most)
    .map(({ section: { path, title, text } }) => ({ path, title, text: text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text }));
}
