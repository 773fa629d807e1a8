import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { renderToStaticMarkup } from "react-dom/server";
import { expect, test } from "vitest";
import filterExamples from "#app/docs/filters/examples.json";
import { NodeFields } from "#app/docs/node-parts.tsx";
import { nodePages } from "#app/docs/nodes/node-example.ts";
import { filters } from "#server/workflow/filters.ts";
import { type NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import { resolveText, scopeOfEntries } from "#server/workflow/resolve-expressions.ts";

const app = join(import.meta.dirname, "..");
const files = readdirSync(app, { recursive: true, encoding: "utf8" });
const chapters = files.filter((file) => /^docs\/(?!search\/)(.*\/)?page\.(mdx|tsx)$/.test(file));
/** The addresses of all pages, without the folders that only group them. */
const addresses = files
  .filter((file) => /(^|\/)page\.(mdx|tsx)$/.test(file))
  .map((file) => `/${file.replace(/\([^)]*\)\//g, "").replace(/\/?page\.\w+$/, "")}`);
const textOf = (file: string) => readFileSync(join(app, file), "utf8");

test("the navigation names every chapter once, by the name that its page has", () => {
  const named = [...textOf("docs/navigation.tsx").matchAll(/\{ href: "([^"]+)", label: "([^"]+)" \}/g)];
  const rows = [...named.map(([, href, label]) => [href, label]), ...nodePages.map(({ href, label }) => [href, label])];
  const pages = chapters.map((file) => [`/${file.replace(/\/page\.\w+$/, "")}`, /title: "([^"]+)"/.exec(textOf(file))?.[1]]);
  expect(rows.toSorted()).toEqual(pages.toSorted());
});

test("every link of the guide leads to a page, and every file that it shows is there", () => {
  for (const file of chapters) {
    const text = textOf(file);
    for (const [, href = ""] of text.matchAll(/\]\((\/[^)#]*)/g)) {
      if (!href.startsWith("/api/")) expect([file, addresses]).toEqual([file, expect.arrayContaining([href])]);
    }
    for (const [, name = ""] of text.matchAll(/<Example file="([^"]+)"/g))
      expect([name, existsSync(join(app, "docs/examples", name))]).toEqual([name, true]);
  }
});

const scope = scopeOfEntries(
  Object.entries(filterExamples.given).map(([name, value]) => ({ name, fields: { output: JSON.stringify(value) } })),
);

test("every filter has examples", () => expect(Object.keys(filterExamples.examples)).toEqual(filters.map(({ name }) => name)));

test.each(Object.values(filterExamples.examples).flat())("%s gives %s", (expression, gives) =>
  expect(resolveText(expression ?? "", scope)).toBe(gives),
);

test.each(filterExamples.errors)("%s is refused: %s", (expression, sentence) => {
  expect(() => resolveText(expression ?? "", scope)).toThrow(expect.objectContaining({ message: `${expression}: ${sentence}` }));
});

test.each(Object.keys(nodeDefinitions) as NodeType[])("the page of %s has all of its fields", (type) => {
  const shown = renderToStaticMarkup(NodeFields({ type }));
  for (const name of Object.keys(nodeDefinitions[type].config.shape)) expect(shown).toContain(`<code>${name}</code>`);
});

test.each([
  ["switchNode", "cases[].condition"],
  ["httpNode", "auth.credential"],
] as const)("the page of %s has %s too, which is within another", (type, name) =>
  expect(renderToStaticMarkup(NodeFields({ type }))).toContain(`<code>${name}</code>`),
);
