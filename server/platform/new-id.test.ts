import { expect, test, vi } from "vitest";
import { newId } from "#server/platform/new-id.ts";

test("ids are UUIDs of version 7 with the time in front, none twice, each after the one before it, whatever the clock does", () => {
  vi.useFakeTimers({ now: Date.parse("2026-05-01T12:00:00Z") });
  const ids = Array.from({ length: 2000 }, (_, index) => {
    if (index % 500 === 499) vi.setSystemTime(Date.now() + (index % 1000 === 499 ? 3 : -1));
    return newId();
  });
  vi.useRealTimers();
  expect(new Set(ids).size).toBe(2000);
  expect(ids).toEqual([...ids].sort());
  for (const id of ids) expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
  expect(Number.parseInt(ids[0]?.replace("-", "").slice(0, 12) ?? "", 16)).toBe(Date.parse("2026-05-01T12:00:00Z"));
});
