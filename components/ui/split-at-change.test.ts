import { expect, test } from "vitest";
import { splitAtChange } from "#components/ui/split-at-change.ts";

test("long texts show what differs between what is alike, by whole words", () => {
  expect(splitAtChange("Sum up the news of today, briefly", "Sum up the mews of today, briefly")).toEqual({
    head: "Sum up the ",
    before: "news",
    after: "mews",
    tail: " of today, briefly",
  });
  const long = "x ".repeat(40);
  expect(splitAtChange(`${long}a${long}`, `${long}b${long}`).head).toMatch(/^…(x | x)/);
  expect(splitAtChange("", "new")).toEqual({ head: "", before: "", after: "new", tail: "" });
  for (const [one, other] of [
    ["a a", "a a a"],
    ["", ""],
    ["same", "same"],
  ] as const) {
    const { head, before, after, tail } = splitAtChange(one, other);
    expect([head + before + tail, head + after + tail]).toEqual([one, other]);
  }
});
