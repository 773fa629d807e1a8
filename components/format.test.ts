import { expect, test } from "vitest";
import { formatCost, formatSpan, formatUntil, spanOf } from "#components/format.ts";

test.each([
  [0, "$0"],
  [0.000009, "$0.000009"],
  [0.0000423, "$0.000042"],
  [0.00312, "$0.0031"],
  [0.0999, "$0.10"],
  [0.5, "$0.50"],
  [1.239, "$1.24"],
  [1204.5, "$1,204.50"],
])("%d is %s", (usd, text) => {
  expect(formatCost(usd)).toBe(text);
});

test("a span is told in the largest unit in which it is whole", () => {
  expect([1, 60, 90, 3600, 5400, 86_400, 259_200, 1.5].map(formatSpan)).toEqual([
    "1 second",
    "1 minute",
    "90 seconds",
    "1 hour",
    "90 minutes",
    "1 day",
    "3 days",
    "1.5 seconds",
  ]);
  expect(spanOf(0.01 * 3600)).toEqual({ count: 36, unit: "second" });
});

test("a moment ahead is as short as it is clear", () => {
  const now = new Date(2026, 10, 23, 10, 0);
  const until = (...parts: [number, number, number, number]) => formatUntil(new Date(...parts, 5).toISOString(), now);
  expect(until(2026, 10, 23, 14)).toBe("14:05");
  expect(until(2026, 10, 24, 9)).toBe("Tue 09:05");
  expect(until(2026, 11, 24, 9)).toBe("24 Dec, 09:05");
  expect(until(2027, 1, 1, 0)).toBe("1 Feb 2027, 00:05");
});
