import { expect, test } from "vitest";
import { visibleEntries } from "#server/platform/net/visible-headers.ts";

test("keeps at most 100 entries", () => {
  const entries = Array.from({ length: 150 }, (_, index): [string, string] => [`x-${index}`, "1"]);

  expect(Object.keys(visibleEntries(entries))).toHaveLength(100);
});

test("keeps at most 32,768 characters", () => {
  const entries = Array.from({ length: 50 }, (_, index): [string, string] => [`x-${index}`, "v".repeat(1000)]);

  expect(JSON.stringify(visibleEntries(entries)).length).toBeLessThan(34_000);
});
