import { expect, test } from "vitest";
import {
  indentBelow,
  indented,
  insertCode,
  pythonTokens,
  tokenLines,
  unfinishedName,
} from "#components/workflow-editor/fields/python-text.ts";

const kinds = (text: string) =>
  pythonTokens(text)
    .filter((token) => token.kind !== "text")
    .map((token) => `${token.kind} ${token.text}`);

test("colours names, words, strings, numbers and remarks", () => {
  expect(kinds(`"yes" in output.lower() and len(node_outputs['A b']) >= 3.5 # output`)).toEqual([
    'string "yes"',
    "keyword in",
    "known output",
    "keyword and",
    "known node_outputs",
    "string 'A b'",
    "number 3.5",
    "comment # output",
  ]);
});

test("an attribute, and a name inside of another, keep the plain colour", () => {
  expect(kinds("a.output + my_output + re.search")).toEqual(["known re"]);
});

test.each(["", "'never closed", String.raw`r"\d+" in output`, "'''a\nb", "größer == 1", 'f"{output}" != "\\""', "\n\n"])(
  "loses nothing of %j",
  (text) => {
    const joined = pythonTokens(text)
      .map((token) => token.text)
      .join("");
    expect(joined).toBe(text);
  },
);

test.each([
  ["out", 3, { start: 0, query: "out" }],
  ['"yes" in tri', 12, { start: 9, query: "tri" }],
  ["node_outputs[", 13, { start: 0, query: "" }],
  ['x or node_outputs["Re', 21, { start: 5, query: "Re" }],
  ["output.lo", 9, null],
  ["o", 1, null],
  ['"out', 4, null],
  ['"yes" in output or', 18, null],
  ["re", 2, null],
])("finds what is being typed in %j", (text, caret, expected) => {
  expect(unfinishedName(text, caret)).toEqual(expected);
});

test("puts a value in, and uses the bracket that is there", () => {
  expect(insertCode('node_outputs["Re"] == 1', 0, 16, 'node_outputs["Research"]')).toEqual({
    text: 'node_outputs["Research"] == 1',
    caret: 24,
  });
  expect(insertCode("out == 1", 0, 3, "output")).toEqual({ text: "output == 1", caret: 6 });
});

test("code is coloured line by line, with what it has of its own", () => {
  const lines = tokenLines(pythonTokens('total = """a\nb"""\nlen(names)', ["names"]));
  expect(lines.map((line) => line.map(({ text }) => text).join(""))).toEqual(['total = """a', 'b"""', "len(names)"]);
  expect(lines[1]).toEqual([{ kind: "string", text: 'b"""' }]);
  expect(lines[2]?.find(({ text }) => text === "names")?.kind).toBe("known");
  expect(pythonTokens("output", ["names"])).toEqual([{ kind: "text", text: "output" }]);
  expect(tokenLines(pythonTokens("a\n\n"))).toHaveLength(3);
});

test("a new line is indented as the one before, and further below a colon", () => {
  expect(indentBelow("x = 1")).toBe("");
  expect(indentBelow("for x in y:  # each")).toBe("    ");
  expect(indentBelow("a:\n    if b:")).toBe("        ");
  expect(indentBelow("\tx")).toBe("\t");
});

test("Tab goes a step on at a caret, and moves lines that are selected; outwards it takes their indent back", () => {
  const apply = (text: string, start: number, end: number, isOutwards = false) => {
    const edit = indented(text, start, end, isOutwards);
    return edit && { text: text.slice(0, edit.start) + edit.text + text.slice(edit.end), selection: edit.selection };
  };
  expect(apply("ab", 1, 1)).toEqual({ text: "a    b", selection: [5, 5] });
  expect(apply("a\n\nb\nc", 0, 5)).toEqual({ text: "    a\n\n    b\nc", selection: [4, 13] });
  expect(apply("    a\n  b", 6, 9, true)).toEqual({ text: "    a\nb", selection: [6, 7] });
  expect(apply("x\n    a", 4, 4, true)).toEqual({ text: "x\na", selection: [2, 2] });
  expect(apply("a", 0, 0, true)).toBeNull();
});
