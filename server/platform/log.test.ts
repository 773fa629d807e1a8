import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { log } from "#server/platform/log.ts";

const away = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
let lines: { msg: string; count?: number }[];

beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  log.level = "info";
  vi.spyOn(process.stderr, "write").mockImplementation((text) => lines.push(JSON.parse(String(text))) > 0);
});
afterEach(() => {
  vi.runAllTimers();
  vi.restoreAllMocks();
  vi.useRealTimers();
  log.level = "silent";
});

test("logs faults of the database once, then once a minute with their count", () => {
  for (let n = 0; n < 1000; n++) log.error({ err: away() }, "procedure failed");
  expect(lines).toMatchObject([{ msg: "procedure failed" }]);

  vi.advanceTimersByTime(60_000);

  expect(lines).toHaveLength(2);
  expect(lines[1]).toMatchObject({ msg: "faults of the database in the last minute", count: 999 });
});

test("logs other faults each time", () => {
  for (let n = 0; n < 3; n++) log.error({ err: new Error("other") }, "procedure failed");
  expect(lines).toHaveLength(3);
});
