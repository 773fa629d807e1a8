import { expect, test } from "vitest";
import { formatCost } from "#components/format.ts";

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
