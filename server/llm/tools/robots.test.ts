import { expect, test } from "vitest";
import { parseRobots } from "#server/llm/tools/robots.ts";

const allows = (text: string, path: string) => parseRobots(text, "Treadle").allows(path);

test.each([
  ["User-agent: *\nDisallow: /private", "/private/x", false],
  ["User-agent: *\nDisallow: /private", "/public", true],
  ["User-agent: *\nDisallow: /", "/robots.txt", true],
  ["User-agent: *\nDisallow:", "/x", true],
  ["", "/x", true],
  ["<!doctype html><p>Not found</p>", "/x", true],
  ["user-AGENT:*\r\nDISALLOW:/a # all of it\r\n", "/a", false],
  ["\uFEFFUser-agent: *\nDisallow: /", "/x", false],
  ["User-agent: *\nDisallow: /a\nAllow: /a/b", "/a/b/c", true],
  ["User-agent: *\nAllow: /a\nDisallow: /a", "/a", true],
  ["User-agent: *\nDisallow: /\n\nUser-agent: treadle\nDisallow: /x", "/y", true],
  ["User-agent: *\nDisallow:\n\nUser-agent: Treadle/1.0\nDisallow: /", "/y", false],
  ["User-agent: treadlemill\nDisallow: /", "/y", true],
  ["User-agent: a\nUser-agent: treadle\nDisallow: /", "/y", false],
  ["User-agent: treadle\nDisallow: /x\nUser-agent: b\nDisallow: /y", "/y", true],
  ["User-agent: treadle\nDisallow: /x\n\nUser-agent: *\nDisallow: /\n\nUser-agent: treadle\nDisallow: /y", "/y", false],
  ["User-agent: treadle\nCrawl-delay: 5\nDisallow: /x", "/x", false],
  ["User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf", false],
  ["User-agent: *\nDisallow: /*.pdf$", "/a/b.pdf?x=1", true],
  ["User-agent: *\nDisallow: /a*b*c", "/a1b2c3", false],
  ["User-agent: *\nDisallow: /a*b*c", "/a1c2b", true],
  ["User-agent: *\nDisallow: /a$", "/a", false],
  ["User-agent: *\nDisallow: /a$", "/ab", true],
  ["User-agent: *\nDisallow: /ä", "/%C3%A4", false],
  ["User-agent: *\nDisallow: /%7Ejoe", "/~joe", false],
  ["User-agent: *\nDisallow: /a?b", "/a?b=c", false],
  ["Disallow: /", "/x", true],
])("%j on %s: %s", (text, path, expected) => {
  expect(allows(text, path)).toBe(expected);
});

test("a pattern that would keep a regular expression busy for ever is matched at once", () => {
  expect(allows(`User-agent: *\nDisallow: /${"a*".repeat(1000)}b$`, `/${"a".repeat(50_000)}`)).toBe(true);
});

test("a line that would keep a regular expression busy for ever is read at once", () => {
  const line = `Disallow: ${" ".repeat(3980)}#\u2028x\n`;
  expect(allows(`User-agent: *\n${line.repeat(100)}Disallow: /x`, "/x")).toBe(false);
});
