import { afterEach, expect, test, vi } from "vitest";
import { inTimeSlices, shortWork, TimeSlice } from "#server/platform/time-slice.ts";

test("several turns of the event loop pass between two slices, however much work waits", async () => {
  let turns = 0;
  const count = () => {
    turns++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  const seen: number[] = [];
  const work = async () => {
    for (let index = 0; index < 3; index++) {
      await new TimeSlice().next();
      seen.push(turns);
    }
  };

  await Promise.all([work(), work()]);
  clearImmediate(counting);

  const between = seen.slice(1).map((turn, index) => turn - (seen[index] ?? 0));
  expect(Math.min(...between)).toBeGreaterThanOrEqual(4);
});

test("work in slices comes to its result", async () => {
  function* steps(): Generator<void, string> {
    for (let index = 0; index < 1000; index++) yield;
    return "done";
  }
  expect(await inTimeSlices(steps())).toBe("done");
});

/** Begins a turn of the event loop with a clock that only `pass` moves, in milliseconds. */
async function stoppedClock(): Promise<{ pass: (ms: number) => void }> {
  await new Promise((resolve) => setImmediate(resolve));
  let time = 1_000_000;
  vi.spyOn(performance, "now").mockImplementation(() => time);
  return {
    pass(ms) {
      time += ms;
    },
  };
}

afterEach(() => void vi.restoreAllMocks());

test("waiting for the event loop does not use up a slice", async () => {
  const slice = new TimeSlice(shortWork);
  await new Promise((resolve) => setTimeout(resolve, 20));
  expect(slice.isUp).toBe(false);
});

test("a slice is up after ten milliseconds of its own", async () => {
  const clock = await stoppedClock();
  const slice = new TimeSlice(shortWork);
  clock.pass(9);
  expect(slice.isUp).toBe(false);
  clock.pass(1);
  expect(slice.isUp).toBe(true);
});

test("a slice is up when all work has held the event loop for twenty milliseconds", async () => {
  const clock = await stoppedClock();
  new TimeSlice();
  clock.pass(15);
  const slice = new TimeSlice(shortWork);
  expect(slice.isUp).toBe(false);
  clock.pass(5);
  expect(slice.isUp).toBe(true);
});

test("short work that has yielded goes on in one turn together", async () => {
  const turns: number[] = [];
  let turn = 0;
  const count = () => {
    turn++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  await Promise.all(Array.from({ length: 5 }, () => new TimeSlice(shortWork).next().then(() => turns.push(turn))));
  clearImmediate(counting);
  expect(new Set(turns).size).toBe(1);
});
