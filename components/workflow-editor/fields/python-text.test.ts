import { expect, test } from "vitest";
import { insertCode, pythonTokens, unfinishedName } from "#components/workflow-editor/fields/python-text.ts";

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
