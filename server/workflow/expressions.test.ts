import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  nearestName,
  parseTemplate,
  referencesOf,
  resolveJson,
  resolveText,
  resolveValue,
  type Scope,
  scopeOf,
  slugOf,
} from "#server/workflow/expressions.ts";

const scope: Scope = scopeOf([
  { name: "trigger", fields: { output: '{"user":{"email":"a@b.c","tags":["x","y"]}}', count: 3 } },
  { name: "Research Agent", fields: { output: "found it" } },
  { name: "Skipped", fields: { output: "" } },
]);

describe("resolveText", () => {
  it.each([
    ["plain text", "plain text"],
    ["Say {{Research Agent.output}}!", "Say found it!"],
    ["{{research_agent.output}}", "found it"],
    ["{{ Research Agent.output }}", "found it"],
    ["{{trigger.output.user.email}}", "a@b.c"],
    ["{{trigger.output.user.tags[1]}}", "y"],
    ['{{trigger.output["user"].email}}', "a@b.c"],
    ["{{trigger.output.user}}", '{"email":"a@b.c","tags":["x","y"]}'],
    ["{{trigger.count}} items", "3 items"],
    ["[{{Skipped.output}}]", "[]"],
    ["a { b } {{ not closed", "a { b } {{ not closed"],
  ])("%s → %s", (template, text) => expect(resolveText(template, scope)).toBe(text));

  it.each([
    ["{{Reserch Agent.output}}", 'Did you mean "Research Agent"?'],
    ["{{nobody.output}}", "names nothing that has run"],
    ["{{trigger.cuont}}", 'Did you mean "count"?'],
    ["{{trigger.output.user.mail}}", 'has no "mail"'],
    ["{{trigger.output.user.tags[7]}}", "no item 7"],
    ["{{Research Agent.output.x}}", "text that is not JSON"],
    ["{{}}", "is empty"],
    ["{{trigger}}", "needs a part after the name"],
    ["{{trigger.output..x}}", "cannot be read"],
  ])("%s is refused with a reason: %s", (template, reason) => expect(() => resolveText(template, scope)).toThrow(reason));
});

describe("resolveValue", () => {
  it("keeps the type of a single expression, and makes text of anything else", () => {
    expect(resolveValue("{{trigger.output.user.tags}}", scope)).toEqual(["x", "y"]);
    expect(resolveValue(" {{trigger.count}} ", scope)).toBe(3);
    expect(resolveValue("n={{trigger.count}}", scope)).toBe("n=3");
  });
});

describe("resolveJson", () => {
  it("escapes what comes into a string, and nothing else", () => {
    const quotes = scopeOf([{ name: "q", fields: { output: 'a"b\n', list: [1] } }]);
    const parts = parseTemplate('{"\\"{{q.output}}": {{q.list}}, "x": "{{q.list}}"}');
    expect(resolveJson(parts, quotes)).toBe('{"\\"a\\"b\\n": [1], "x": "[1]"}');
  });

  it("is bounded as text is, while it is made", () => {
    let reads = 0;
    const long = scopeOf([{ name: "Long", fields: { output: "a".repeat(1_000_000) } }]);
    const find: Scope["find"] = (name) => {
      reads++;
      return long.find(name);
    };
    expect(() => resolveJson(parseTemplate(`"${"{{Long.output}}".repeat(100)}"`), { ...long, find })).toThrow("more than the 16.0 MiB");
    expect(reads).toBeLessThan(20);
    const filtered = parseTemplate(`"${"{{Long.output | upper | slice(0, 1)}}".repeat(200)}"`);
    expect(() => resolveJson(filtered, long)).toThrow("filters on too much");
  });
});

describe("parsing", () => {
  it("never throws, and its parts put together are the template", () => {
    const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom("{{", "}}", "{{a.b}}", ".", "[0]", "{{ x . y }}")));
    fc.assert(
      fc.property(pieces, (list) => {
        const template = list.join("");
        expect(
          parseTemplate(template)
            .map((part) => ("text" in part ? part.text : part.reference.source))
            .join(""),
        ).toBe(template);
      }),
    );
  });

  it("tells where each reference stands", () => {
    const [reference] = referencesOf("ab {{x.y}} c");
    expect(reference).toMatchObject({ head: "x", path: ["y"], start: 3, end: 10 });
  });
});

it("makes slugs that people would guess", () => {
  expect(slugOf(" Research-Agent 2 ")).toBe("research_agent_2");
  expect(slugOf("Übersetzer")).toBe("übersetzer");
});

it("finds the nearest name, and none when nothing is near", () => {
  expect(nearestName(["Writer", "Critic"], "wrter")).toBe("Writer");
  expect(nearestName(["Writer", "Critic"], "translator")).toBeUndefined();
});
