import fc from "fast-check";
import { describe, expect, it, test, vi } from "vitest";
import { parseTemplate, referencesOf } from "#server/workflow/expressions.ts";
import { filters } from "#server/workflow/filters.ts";
import { namesFrom, withNames } from "#server/workflow/rename.ts";
import { resolveText, resolveValue, type Scope, scopeOfEntries } from "#server/workflow/resolve-expressions.ts";

const scope: Scope = scopeOfEntries([
  {
    name: "Scout",
    fields: { output: '{"name":" Ada ","tags":["x","y","z"],"none":null,"price":"2.345","at":"2026-03-29T00:30:00Z","of":{"a":1,"b":2}}' },
  },
  { name: "Text", fields: { output: "one,two" } },
  { name: "GPT-4.1 Writer", fields: { output: "dots" } },
  { name: "Skipped", fields: { output: "" }, isSkipped: true },
  { name: "credentials", fields: { KEY: "secret-value" }, isFlat: true },
  { name: "trigger", fields: { output: "<b>Tom & 'Jerry'</b> 👍", count: 3 } },
]);

describe("filters", () => {
  it.each([
    ['{{Scout.output.nickname | default("none")}}', "none"],
    ['{{Scout.output.none | default("none")}}', "none"],
    ['{{Text.output.x | default("no JSON")}}', "no JSON"],
    ['{{Skipped.output | default("skipped")}}', "skipped"],
    ["{{Scout.output.name | default('none') | trim}}", "Ada"],
    ["{{Scout.output.name|trim|json}}", '"Ada"'],
    ["{{Scout.output.tags | json}}", '["x","y","z"]'],
    ["{{Scout.output.none | json}}", "null"],
    ["{{Scout.output.tags | length}} {{Scout.output.of | length}} {{Text.output | length}}", "3 2 7"],
    ["{{trigger.output | slice(-1) | length}}", "1"],
    ["{{Scout.output.tags | join}}", "x, y, z"],
    [String.raw`{{Scout.output.tags | join("\n")}}`, "x\ny\nz"],
    ['{{Text.output | split | join(" | ")}}', "one | two"],
    ['{{Text.output | split(",") | last | upper}}', "TWO"],
    ["{{Scout.output.tags | first}}", "x"],
    ["{{Scout.output.name | lower}}", " ada "],
    ['{{Text.output | replace("o", "$&")}}', "$&ne,tw$&"],
    [String.raw`{{Text.output | replace(",", "\"")}}`, 'one"two'],
    ["{{Scout.output.price | round}} {{Scout.output.price | round(2)}} {{trigger.count | round(2)}}", "2 2.35 3"],
    ["{{Scout.output.at | date}}", "2026-03-29"],
    ['{{Scout.output.at | date("%d.%m.%y %H:%M:%S %z", "Europe/Berlin")}}', "29.03.26 01:30:00 +0100"],
    ['{{Scout.output.at | date("%A %a %B %b %I %p %s 100%%")}}', "Sunday Sun March Mar 12 AM 1774744200 100%"],
    ["{{Scout.output.of | keys}}", '["a","b"]'],
    ["{{Scout.output.tags | slice(1)}} {{Text.output | slice(0, 3)}} {{trigger.output | slice(-1)}}", '["y","z"] one 👍'],
    ["{{trigger.output | escape | slice(0, 38)}}", "&lt;b&gt;Tom &amp; &#39;Jerry&#39;&lt;"],
    ["{{GPT-4.1 Writer.output | upper}}", "DOTS"],
    ['{{Text.output | default("a.b[0]")}}', "one,two"],
  ])("%s → %s", (template, text) => expect(resolveText(template, scope)).toBe(text));

  it.each([
    ["{{Text.output | uper}}", 'there is no filter "uper". Did you mean "upper"?'],
    ["{{Text.output | frobnicate}}", "There are: default, json"],
    ["{{Text.output | }}", 'there is no filter ""'],
    ["{{Text.output | default}}", "write it as default(value)"],
    ["{{Text.output | upper(1)}}", "write it as upper"],
    ["{{Text.output | replace('a')}}", "write it as replace(old, new)"],
    ["{{Text.output | join(x)}}", "cannot be read after"],
    ["{{Text.output | upper extra}}", "cannot be read after"],
    ["{{Text.output | keys}}", 'keys needs an object, and was given the text "one,two".'],
    ["{{Text.output | first}}", 'first needs a list, and was given the text "one,two".'],
    ["{{Scout.output.of | join}}", "join needs a list, and was given an object."],
    ["{{Scout.output.tags | upper}}", "upper needs text, and was given a list."],
    ["{{Text.output | round}}", 'round needs a number, and was given the text "one,two".'],
    ["{{Skipped.output | round}}", "round needs a number, and was given nothing."],
    ["{{Text.output | date}}", 'date needs a time, and was given the text "one,two".'],
    ['{{Scout.output.at | date("%Q")}}', "date does not know the sign %Q"],
    ['{{Scout.output.at | date("%Y", "Mars/Base")}}', '"Mars/Base" is none'],
    ["{{Scout.output.nickname | upper}}", 'has no "nickname"'],
    ["{{Nobody.output | default('x')}}", "names nothing that has run"],
    ["{{credentials.KEY | slice(0, 3)}}", "a credential is one text. Write {{credentials.KEY}}."],
    [`{{Text.output${" | trim".repeat(11)}}}`, "at most 10 filters"],
  ])("%s is refused: %s", (template, reason) => expect(() => resolveText(template, scope)).toThrow(reason));

  it("keep the type of a value that stands alone", () => {
    expect(resolveValue("{{Text.output | split}}", scope)).toEqual(["one", "two"]);
    expect(resolveValue("{{Scout.output.tags | length}}", scope)).toBe(3);
  });

  it("stay where they are when a node is renamed", () => {
    const names = (label: string) => namesFrom([["s", label]]);
    const data = { input: '{{Scout.output.tags | join(" | ")}}' };
    expect(withNames("agentNode", data, names("Scout"), names("Finder"))).toEqual({ input: '{{Finder.output.tags | join(" | ")}}' });
  });
});

test("what a filter makes is bounded before it is made", () => {
  const long = scopeOfEntries([
    { name: "Long", fields: { output: "a".repeat(1_000_000), list: Array.from({ length: 90_000 }, () => "a") } },
  ]);
  const wide = "b".repeat(200);
  expect(() => resolveText(`{{Long.output | replace("a", "${wide}")}}`, long)).toThrow("more than 16 MiB");
  expect(() => resolveText(`{{Long.list | join("${wide}")}}`, long)).toThrow("more than 16 MiB");
  expect(() => resolveText('{{Long.output | split("a")}}', long)).toThrow("100,000 pieces at most");
  expect(() => resolveText("{{Long.output | upper | lower | slice(0, 1)}}".repeat(100), long)).toThrow("filters on too much");
  // Lists and objects have their cost too.
  const list = scopeOfEntries([
    { name: "Long", fields: { list: Array(1_000_000).fill(1), object: Object.fromEntries(Array(100_000).entries()) } },
  ]);
  expect(resolveText("{{Long.list | length}} {{Long.object | length}}", list)).toBe("1000000 100000");
  expect(() => resolveText("{{Long.list | slice(0) | first}}".repeat(100), list)).toThrow("filters on too much");
  expect(() => resolveText("{{Long.object | keys | first}}".repeat(50), list)).toThrow("filters on too much");
});

test("a format of many signs makes no more formatters than there are signs", () => {
  const made = vi.spyOn(Intl, "DateTimeFormat");
  const time = `{{Scout.output.at | date("${"%Y%m%z".repeat(50)}", "Asia/Kathmandu")}}`;
  expect(resolveText(time.repeat(5), scope)).toBe("202603+0545".repeat(250));
  expect(made.mock.calls.length).toBeLessThanOrEqual(3);
  made.mockRestore();
});

test("whatever is written after a bar, parsing never throws and loses nothing", () => {
  const piece = fc.oneof(
    fc.constantFrom(...filters.map(({ name }) => name), "(", ")", '"', "'", ",", "|", " ", "\\", "1", "-", "null"),
    fc.string(),
  );
  fc.assert(
    fc.property(fc.array(piece), (pieces) => {
      const template = `{{Scout.output | ${pieces.join("").replace(/[{}]/g, "")}}}`;
      const parts = parseTemplate(template);
      expect(parts.map((part) => ("text" in part ? part.text : part.reference.source)).join("")).toBe(template);
      for (const reference of referencesOf(template)) if (!reference.fault) expect(reference.filters.length).toBeGreaterThan(0);
    }),
  );
});
