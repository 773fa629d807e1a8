import { expect, test } from "vitest";
import { isLanguage, rangeWords } from "#components/canvases/widgets/reader.ts";
import type { Widget } from "#server/features/canvases/schema.ts";

test("what a browser names as its language is used only when it can be formatted in", () => {
  expect(["en-US@posix", "C", "", "de-CH", "sr-Latn-RS"].map(isLanguage)).toEqual([false, false, false, true, true]);
});

test("a widget over runs says of which time it is, the page's in place of its own", () => {
  const of = (options: object | undefined, range?: "24h") => rangeWords({ options } as Widget, range);
  expect(of({ over: "runs" })).toBe("Last 30 days");
  expect(of({ over: "runs", range: "7d" })).toBe("Last 7 days");
  expect(of({ over: "runs", range: "7d" }, "24h")).toBe("Last 24 hours");
  expect([of({ over: "latest", range: "7d" }, "24h"), of(undefined, "24h")]).toEqual([null, null]);
});
