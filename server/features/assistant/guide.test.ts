import { expect, test } from "vitest";
import { searchGuide, sectionsOf } from "#server/features/assistant/guide.ts";

test.each([
  ["verify the signature of a webhook", "/docs/triggers#webhook"],
  ["How do I loop over a list?", "/docs/nodes/loop"],
  ["start a workflow on a schedule, cron", "/docs/triggers#schedule"],
  ["Which secrets are masked?", "/docs/credentials#what-is-masked"],
  ["rate limits, 429", "/docs/administration#limits"],
  ["pinned outputs of nodes", "/docs/nodes#pinned-outputs"],
  ["back up the database", "/docs/administration#back-up"],
  ["MCP servers of an agent", "/docs/agents#mcp-servers"],
  ["where do model prices come from", "/docs/costs#where-prices-come-from"],
  ["embedding key for knowledge", "/docs/knowledge#embedding-key"],
])("the guide knows about: %s", (question, path) => {
  const found = searchGuide(question);
  expect(found[0]).toMatchObject({ path });
  expect(found.length).toBeLessThanOrEqual(4);
});

test("what the guide does not have a word of is not found", () => expect(searchGuide("zeppelin qqq")).toEqual([]));

test("a chapter falls into sections by its headings, with examples in their place and none by what code has", () => {
  const mdx =
    'export const metadata = { title: "X" };\n\n# Page\n\nFirst.\n\n## `One` thing\n\n<Example file="a.sh" />\n\n```sh\n# no heading\n```\n\n### Deep\n\nLast <Kbd>K</Kbd>.\n';
  const sections = sectionsOf(mdx, "/docs/x", (file) => `(${file})`);
  expect(sections.map(({ path, title, text }) => [path, title, text])).toEqual([
    ["/docs/x", "Page", "First."],
    ["/docs/x#one-thing", "Page · One thing", "(a.sh)\n\n```sh\n# no heading\n```"],
    ["/docs/x#deep", "Page · One thing · Deep", "Last <Kbd>K</Kbd>."],
  ]);
});
