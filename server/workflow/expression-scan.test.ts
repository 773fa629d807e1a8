import { describe, expect, it, test } from "vitest";
import { unfinishedExpression } from "#components/workflow-editor/fields/expression-options.ts";
import { pathStep } from "#components/workflow-editor/fields/json-paths.ts";
import { eachExpression } from "#server/workflow/expression-scan.ts";
import { parseTemplate, writtenOf } from "#server/workflow/expressions.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import { resolveJson, resolveText, scopeOfEntries } from "#server/workflow/resolve-expressions.ts";

const scope = scopeOfEntries([
  {
    name: "A",
    fields: { output: "a{{b}}c", object: { 'a"b': 1, "a'b": 2, "}}": 3, "a\\b": 4, "a|b": 5, " x ": 6, "\\": 7, "\"'": 8, 'end\\"': 9 } },
  },
]);
const sources = (template: string) => [...eachExpression(template)].map(({ source }) => source);

describe("quoted arguments", () => {
  it.each([
    ['{{A.output | replace("}}", "x")}}', "a{{bxc"],
    ["{{A.output | replace('{{', '}')}}", "a}b}}c"],
    ['{{A.output | replace( "b", "{" ) | replace("{{{", "\\"}}")}}!', 'a"}}}}c!'],
    ['<{{A.output | default("}")}}>{{A.output | slice(0, 1)}}', "<a{{b}}c>a"],
    [String.raw`{{A.object["a\"b"]}}{{A.object['a\'b']}}`, "12"],
    ["{{A.object[\"}}\"]}}{{A.object['}}']}}", "33"],
    [String.raw`{{A.object["a\b"]}}{{A.object["a\\b"]}}`, "44"],
  ])("%s → %s", (template, text) => expect(resolveText(template, scope)).toBe(text));

  it.each([
    "an apostrophe's {{Tom's node.output}} isn't a quote",
    '{"a": ["{{A.output}}", "{{A.output}}"]}',
    '{{A.output | default("unclosed}} and {{A.output}}',
    '{{ ["{{A.output}}"] ',
    '{{x ("{{A.output}}") {',
  ])("leave other quotes alone: %s", (template) => {
    expect(sources(template)).toEqual([...template.matchAll(/\{\{[^{}]*\}\}/g)].map(([source]) => source));
  });
});

describe("a backslash before braces", () => {
  it.each([
    [String.raw`\{{name}}`, "{{name}}"],
    [String.raw`Write \{{A.output}} for {{A.output | slice(0, 1)}}`, "Write {{A.output}} for a"],
    [String.raw`\\{{A.output | slice(0, 1)}}`, String.raw`\\a`],
    [String.raw`\\\{{A.output}}`, String.raw`\\{{A.output}}`],
    [String.raw`\{{ never closed`, String.raw`\{{ never closed`],
  ])("%s → %s", (template, text) => expect(resolveText(template, scope)).toBe(text));

  it("writes braces within JSON", () => {
    expect(resolveJson(parseTemplate(String.raw`{"a": "\{{name}}"}`), scope)).toBe('{"a": "{{name}}"}');
  });

  it("stays when a node is renamed", () => {
    const names = (label: string) => namesFrom([["a", label]]);
    const data = { value: String.raw`\{{A.output}} {{A.output | replace("}}", "A")}}` };

    expect(withNames("outputNode", data, names("A"), names("B"))).toEqual({
      value: String.raw`\{{A.output}} {{B.output | replace("}}", "A")}}`,
    });
  });

  it("stays in the text that the editor colours", () => {
    const template = String.raw`x \{{name}} {{A.output}}`;

    expect(parseTemplate(template).map(writtenOf).join("")).toBe(template);
  });
});

describe("the list of expressions opens", () => {
  it.each([
    ['{{A.output | replace("}}", ', 'A.output | replace("}}", '],
    [String.raw`\{{A`, undefined],
    ["{{A.output}} {{A", "A"],
  ])("behind %s", (text, query) => expect(unfinishedExpression(text, text.length)?.query).toBe(query));
});

test.each(Object.entries(scope.find("A")?.fields.object as object))("a step of a path reads the field %s", (key, value) => {
  expect(resolveText(`{{A.object${pathStep(key)}}}`, scope)).toBe(String(value));
});

test.each([
  ["quotes that never close", '{{("'],
  ["arguments before a stray brace", '"{{",'],
  ["blanks behind quotes", '("a"   '],
  ["opening braces", "{"],
])("takes a long text of %s", (_, piece) => {
  const template = `{{(${piece.repeat(200_000)}{`;

  expect(parseTemplate(template).map(writtenOf).join("")).toBe(template);
});
