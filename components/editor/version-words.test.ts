import { expect, test } from "vitest";
import { countWords, fieldTitle, textParts, valueWords } from "#components/editor/version-words.ts";

test("counts in words; nothing for a save that changed nothing", () => {
  expect(countWords({ nodes_added: 1, nodes_changed: 0, nodes_removed: 2, edges_changed: 1 })).toBe("1 added, 2 removed, 1 connection");
  expect(countWords({ nodes_added: 0, nodes_changed: 0, nodes_removed: 0, edges_changed: 0 })).toBeNull();
});

test("fields are called as in the panel, values as people say them", () => {
  expect(fieldTitle("agentNode", "agent_id")).toBe("Agent");
  expect(fieldTitle("agentNode", "label")).toBe("Name");
  expect(fieldTitle("unknownNode", "some_thing")).toBe("Some thing");
  const name = (id: string) => (id === "1" ? "Scout" : undefined);
  expect(valueWords("agentNode", "agent_id", "1", name)).toBe("Scout");
  expect(valueWords("agentNode", "input", "", name)).toBe("(empty)");
  expect(valueWords("agentNode", "retries", undefined, name)).toBe("2");
  expect(valueWords("agentNode", "flag", false, name)).toBe("off");
  expect(valueWords("agentNode", "list", [1], name)).toBe("[\n  1\n]");
});

test("long texts show what differs between what is alike, by whole words", () => {
  expect(textParts("Sum up the news of today, briefly", "Sum up the mews of today, briefly")).toEqual({
    head: "Sum up the ",
    before: "news",
    after: "mews",
    tail: " of today, briefly",
  });
  const long = "x ".repeat(40);
  expect(textParts(`${long}a${long}`, `${long}b${long}`).head).toMatch(/^…(x | x)/);
  expect(textParts("", "new")).toEqual({ head: "", before: "", after: "new", tail: "" });
  for (const [one, other] of [
    ["a a", "a a a"],
    ["", ""],
    ["same", "same"],
  ] as const) {
    const { head, before, after, tail } = textParts(one, other);
    expect([head + before + tail, head + after + tail]).toEqual([one, other]);
  }
});
