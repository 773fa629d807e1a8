import { expect, test } from "vitest";
import { visibleEntries } from "#server/platform/net/visible-headers.ts";

test("keeps at most 100 entries", () => {
  const entries = Array.from({ length: 150 }, (_, index): [string, string] => [`x-${index}`, "1"]);

  expect(Object.keys(visibleEntries(entries))).toHaveLength(100);
});

test("a repeated name has a list", () => {
  expect(
    visibleEntries([
      ["a", "1"],
      ["b", "2"],
      ["a", "3"],
    ]),
  ).toEqual({ a: ["1", "3"], b: "2" });
});

test("keeps at most 32,768 characters", () => {
  const entries = Array.from({ length: 50 }, (_, index): [string, string] => [`x-${index}`, "v".repeat(1000)]);

  expect(JSON.stringify(visibleEntries(entries)).length).toBeLessThan(34_000);
});
