import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { setSettings } from "#server/platform/settings.ts";
import { MemoryAccount } from "#server/runs/memory-account.ts";

const MB = 1_000_000;
const run = (id: string, holder = `holder of ${id}`) => ({ id, holder });
let account: MemoryAccount;

beforeEach(() => {
  setSettings({ RUN_MEMORY_BYTES: String(100 * MB), WORKER_CONCURRENCY: "10" });
  vi.useFakeTimers({ toFake: ["Date"] });
  account = new MemoryAccount();
});
afterEach(() => {
  setSettings({ RUN_MEMORY_BYTES: "", WORKER_CONCURRENCY: "50" });
  vi.useRealTimers();
});

test("a run grows to half of what the others leave", () => {
  expect(account.reserve(run("a"), 50 * MB)).toBe(true);
  expect(account.reserve(run("b"), 25 * MB)).toBe(true);
  expect(account.reserve(run("granted"), 40 * MB)).toBe(true);

  expect(account.reserve(run("c"), 20 * MB)).toBe(false);
  expect(account.bytes).toBe(115 * MB);
});

test("a smaller run finds room beside a run that fills the account", () => {
  expect(account.reserve(run("large"), 100 * MB)).toBe(true);
  expect(account.reserve(run("other"), 90 * MB)).toBe(false);

  expect(account.reserve(run("small"), 20 * MB)).toBe(true);
});

test("a run within its allowance is never deferred", () => {
  for (let index = 0; index < 200; index++) account.record(run(`r${index}`), 10 * MB);

  expect(account.reserve(run("tiny"), MB)).toBe(true);
});

test("the run that was deferred first exceeds its share next", () => {
  account.reserve(run("a"), 90 * MB);
  for (const id of ["b", "c", "d"]) expect(account.reserve(run(id), 90 * MB)).toBe(false);
  account.release(run("a"), false);

  expect(account.reserve(run("d"), 90 * MB)).toBe(false);
  expect(account.reserve(run("b"), 90 * MB)).toBe(true);
  expect(account.reserve(run("c"), 90 * MB)).toBe(false);
});

test("a deferred run that does not come back loses its place", () => {
  account.reserve(run("a"), 90 * MB);
  for (const id of ["gone", "b"]) account.reserve(run(id), 90 * MB);
  account.release(run("a"), false);

  vi.setSystemTime(Date.now() + 10_000);

  expect(account.reserve(run("b"), 90 * MB)).toBe(true);
});

test("a run that leaves memory for others keeps its place", () => {
  account.reserve(run("a"), 90 * MB);
  account.reserve(run("b"), 10 * MB);
  expect(account.record(run("b"), 60 * MB)).toBe(false);
  expect(account.reserve(run("c"), 90 * MB)).toBe(false);
  account.release(run("b"), true);
  account.release(run("a"), false);

  expect(account.reserve(run("c"), 90 * MB)).toBe(false);
  expect(account.reserve(run("b", "next"), 60 * MB)).toBe(true);
});

test("figures that include garbage are measured before a run is deferred", () => {
  account.record(run("a"), 90 * MB, () => 5 * MB);

  expect(account.reserve(run("b"), 40 * MB)).toBe(true);
  expect(account.bytes).toBe(45 * MB);
});

test("the number of deferred runs that are remembered is bounded by their time", () => {
  account.reserve(run("a"), 90 * MB);
  for (let index = 0; index < 500; index++) {
    vi.setSystemTime(Date.now() + 1000);
    account.reserve(run(`r${index}`), 90 * MB);
  }

  expect(account.deferred).toBeLessThan(100);
});
