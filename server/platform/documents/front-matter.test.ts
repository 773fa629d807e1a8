import { expect, test } from "vitest";
import { splitFrontMatter } from "#server/platform/documents/front-matter.ts";

test.each([
  ["---\ntitle: House rules\ntags: [a]\n---\n# Night\n", "House rules"],
  ['---\r\ntitle: "Häuser: Regeln"\r\n---\r\n# Night\n', "Häuser: Regeln"],
  ["---\ntitle: 2024\n...\n# Night\n", "2024"],
  ["---\ntags: [a]\n---\n# Night\n", undefined],
])("removes front matter: %j", (markdown, title) => {
  expect(splitFrontMatter(markdown)).toEqual({ title, body: "# Night\n" });
});

test.each([
  "---\nFirst section.\n\n---\nSecond section.\n",
  "---\n\n# First\n\nText.\n\n---\n\n# Second\n",
  "---\n- one\n- two\n---\nText.\n",
  "---\na: [b\n---\nText.\n",
  "---\ntitle: Never closed\n",
  `---\na: ${"[".repeat(8000)}\n---\nText.\n`,
  "Text.\n\n---\ntitle: Later\n---\n",
])("keeps a text that begins without a mapping: %.60j", (markdown) => {
  expect(splitFrontMatter(markdown)).toEqual({ title: undefined, body: markdown });
});
