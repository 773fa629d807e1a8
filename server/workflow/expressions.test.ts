import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { nearestName, parseTemplate, referencesOf, slugOf, writtenOf } from "#server/workflow/expressions.ts";
import {
  longReadsOf,
  readLong,
  resolveJson,
  resolveText,
  resolveValue,
  type Scope,
  scopeOfEntries,
} from "#server/workflow/resolve-expressions.ts";

const scope: Scope = scopeOfEntries([
  { name: "trigger", fields: { output: '{"user":{"email":"a@b.c","tags":["x","y"]}}', count: 3 } },
  { name: "Research Agent", fields: { output: "found it" } },
  { name: "Skipped", fields: { output: "" } },
]);

afterEach(() => void vi.restoreAllMocks());

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
    const quotes = scopeOfEntries([{ name: "q", fields: { output: 'a"b\n', list: [1] } }]);
    const parts = parseTemplate('{"\\"{{q.output}}": {{q.list}}, "x": "{{q.list}}"}');
    expect(resolveJson(parts, quotes)).toBe('{"\\"a\\"b\\n": [1], "x": "[1]"}');
  });

  it("is bounded as text is, while it is made", () => {
    let reads = 0;
    const long = scopeOfEntries([{ name: "Long", fields: { output: "a".repeat(1_000_000) } }]);
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
    const pieces = fc.array(fc.oneof(fc.string(), fc.constantFrom("{{", "}}", "\\", '("', '")', "{{a.b}}", ".", "[0]", "{{ x . y }}")));
    fc.assert(
      fc.property(pieces, (list) => {
        const template = list.join("");
        expect(parseTemplate(template).map(writtenOf).join("")).toBe(template);
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

describe("suggestions are bounded", () => {
  const wanted = "x".repeat(60);

  it.each([
    ["of 60 characters", [`${wanted.slice(1)}y`], wanted, true],
    ["longer than 60 characters", [`${wanted}x`], wanted, false],
    ["for text longer than 60 characters", [wanted], `${wanted}x`, false],
    ["in the 200th place", [...Array.from({ length: 199 }, String), "writer"], "wrter", true],
    ["in the 201st place", [...Array.from({ length: 200 }, String), "writer"], "wrter", false],
  ])("name %s", (_, names, text, isFound) => expect(nearestName(names, text)).toBe(isFound ? names.at(-1) : undefined));

  it("compares at most 60 characters of a name that is long in normal form", () => {
    // 18 characters each in normal form.
    expect(nearestName(["\ufdfa".repeat(60)], "\ufdfa".repeat(59))).toBe("\ufdfa".repeat(60));
  });
});

describe("messages are bounded", () => {
  const long = "x".repeat(100_000);
  const keys = scopeOfEntries([{ name: "A", fields: { output: JSON.stringify({ [long]: 1, [`${long}y`]: 2 }), [long]: "text" } }]);

  it.each([
    ["an unknown name", `{{${long}.output}}`],
    ["an unknown field", `{{A.${long}z}}`],
    ["an unknown field beside long ones", `{{A.z}}`],
    ["an unknown key", `{{A.output.${long}z}}`],
    ["an unknown key beside long ones", "{{A.output.z}}"],
    ["a path into text", `{{A.${long}.x}}`],
    ["a path that cannot be read", `{{A.output${"]".repeat(100_000)}}}`],
    ["no path", `{{${long}}}`],
    ["an unknown filter", `{{A.output | ${long}}}`],
    ["an argument that cannot be read", `{{A.output | default(${long})}}`],
    ["a filter on another kind of value", `{{A.output | date("%", "${long}")}}`],
  ])("%s", (_, template) => {
    let message = "";
    try {
      resolveText(template, keys);
    } catch (error) {
      message = String(error);
    }

    expect(message).not.toBe("");
    expect(message.length).toBeLessThanOrEqual(520);
  });
});

describe("long texts are read elsewhere", () => {
  const list = JSON.stringify(Array.from({ length: 40_000 }, (_, index) => ({ n: index })));
  const long = scopeOfEntries([{ name: "A", fields: { output: list, short: "[1]" } }]);
  const template = "{{A.output | length}} {{A.output | first}} {{A.output | last | json | length}} {{A.output[7].n}} {{A.output | length}}";

  it("once for each expression", () => {
    expect(longReadsOf(referencesOf(template), long)).toEqual({
      texts: [list],
      reads: [...new Set(referencesOf(template).map(({ source }) => source))].map((source) => ({
        reference: expect.objectContaining({ source }),
        text: 0,
      })),
    });
  });

  it.each([
    ["is short", "{{A.short | length}}"],
    ["is taken as it is", "{{A.output}}".repeat(100)],
  ])("unless the text %s", (_, text) => expect(longReadsOf(referencesOf(text), long)).toBeUndefined());

  it("counts all filters of a node together", () => {
    const short = scopeOfEntries([{ name: "A", fields: { output: "x".repeat(1024) } }]);
    const text = (filters: number) =>
      Array.from({ length: filters / 2 }, (_, index) => `{{A.output | upper | replace("${index}", "")}}`).join("");

    expect(longReadsOf(referencesOf(text(250)), short)).toBeUndefined();
    expect(longReadsOf(referencesOf(text(258)), short)?.texts).toHaveLength(1);
  });

  it("parses a text once", () => {
    const parse = vi.spyOn(JSON, "parse");

    readLong(longReadsOf(referencesOf(template), long) ?? { texts: [], reads: [] });

    expect(parse.mock.calls.filter(([text]) => text === list)).toHaveLength(1);
  });

  it("writes a value as JSON once", () => {
    const stringify = vi.spyOn(JSON, "stringify");
    const value = scopeOfEntries([{ name: "A", fields: { output: { a: 1 } } }]);

    expect(resolveText("{{A.output}} {{A.output | json}} {{A.output}}", value)).toBe('{"a":1} {"a":1} {"a":1}');
    expect(stringify).toHaveBeenCalledTimes(1);
  });

  it("comes to what it comes to here", () => {
    const path = fc.constantFrom("output", "output.a", "output.a[0]", "output.b.c", "output.x");
    const filter = fc.constantFrom(
      "length",
      "first",
      "upper",
      "json",
      'default("none")',
      'replace("a", "b")',
      "keys",
      "slice(0, 1)",
      "round",
    );
    const text = fc.constantFrom('{"a":[1,2],"b":{"c":"a text"}}', "[1,null]", "plain", "3.14", "", "null", "[bad");
    fc.assert(
      fc.property(text, path, fc.array(filter, { maxLength: 3 }), (output, read, filters) => {
        const template = `<{{A.${[read, ...filters].join(" | ")}}}>`;
        const references = referencesOf(template);
        const readAhead = new Map(
          readLong({ texts: [output], reads: references.map((reference) => ({ reference, text: 0 })) }).map((result) => [
            references[0]?.source ?? "",
            result,
          ]),
        );
        const scope = scopeOfEntries([{ name: "A", fields: { output } }]);
        const outcomeOf = (from: Scope, resolve: typeof resolveText | typeof resolveValue, whole: string) => {
          try {
            return resolve(whole, from) ?? null;
          } catch (error) {
            return String(error);
          }
        };

        for (const [resolve, whole] of [
          [resolveText, template],
          [resolveValue, template.slice(1, -1)],
        ] as const)
          expect(outcomeOf({ ...scope, readAhead }, resolve, whole)).toEqual(outcomeOf(scope, resolve, whole));
      }),
    );
  });
});
