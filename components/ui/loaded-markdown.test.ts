import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import { Markdown } from "#components/ui/loaded-markdown.tsx";
import { isQuickMarkdown } from "#components/ui/markdown-bounds.ts";

test("the server renders user Markdown as plain text", () => {
  const html = renderToStaticMarkup(createElement(Markdown, null, "# A **b**\n\n- c"));

  expect(html).toContain("<p># A **b**\n\n- c</p>");
  expect(html).not.toMatch(/<(strong|ul|h3)/);
});

test.each([
  ["ordered lists in each other", "1. ", 8000],
  ["quotes in each other", "> ", 8000],
  ["lists in quotes", "> - ", 8000],
  ["nested lists", "- a\n  - b\n", 20_000],
  ["lists that end at once", "* *\n", 20_000],
  ["quotes that end at once", "> a\n\n", 20_000],
  ["underlines of headings", "===\n", 20_000],
  ["emphasis that is never closed", "*a_ ", 20_000],
  ["brackets", "[a](b) ", 20_000],
  ["code that is never closed", "`a``b", 20_000],
  ["cells of a table", "|a", 40_000],
  ["lines", "a\n", 20_000],
  ["words", "word ", 60_000],
])("plain text takes the place of too many %s", (_, unit, length) => {
  expect(isQuickMarkdown(unit.repeat(length / unit.length))).toBe(false);
});

test("long answers of models are formatted", () => {
  const section =
    "## Title\n\nA **bold** word, `code` and a [link](https://example.com).\n\n- one\n  - two\n- three\n\n1. a\n2. b\n\n> quote\n\n";
  const table = `| A | B |\n|---|---|\n${"| **a** | 1 |\n".repeat(200)}`;

  expect(isQuickMarkdown(section.repeat(60) + table)).toBe(true);
});

test("code is formatted however deep it is indented", () => {
  expect(isQuickMarkdown(`\`\`\`\n${"                    call(a, b);\n".repeat(500)}\`\`\``)).toBe(true);
});

test("hidden characters of a text that is decided about are shown as escapes", () => {
  const html = renderToStaticMarkup(createElement(() => Markdown({ showsHidden: true, children: "pay \u202Exyz 👩‍💻" })));

  expect(html).toContain("pay \\u202Exyz 👩‍💻");
});
