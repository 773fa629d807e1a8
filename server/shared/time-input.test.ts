import { expect, test } from "vitest";
import { TimeInput } from "#server/shared/primitives-schema.ts";
import { firstInstant, lastInstant } from "#server/shared/time-input.ts";

test.each(["2026-11-29", "2026-11-29T08:00Z", "2026-11-29T08:00:00Z", "2026-11-29T08:00:00.000Z", "2026-11-29T08:00:00.123456+01:00"])(
  "accepts %s",
  (time) => {
    expect(TimeInput.safeParse(time).success).toBe(true);
  },
);

test.each(["2026-02-30", "2026-11-29T08:00:00", "yesterday", "0000-01-01", "1764403200"])("rejects %s", (time) => {
  expect(TimeInput.safeParse(time).success).toBe(false);
});

test("reads a date as the start of its UTC day", () => {
  expect(firstInstant("2026-11-29").toISOString()).toBe("2026-11-29T00:00:00.000Z");
});

test("reads the last instant of a date as the end of its UTC day", () => {
  expect(lastInstant("2026-11-29").toISOString()).toBe("2026-11-30T00:00:00.000Z");
});

test("applies the offset of a date-time", () => {
  for (const instant of [firstInstant, lastInstant])
    expect(instant("2026-11-29T08:00:00.5+01:00").toISOString()).toBe("2026-11-29T07:00:00.500Z");
});
