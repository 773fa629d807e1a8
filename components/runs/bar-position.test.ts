import { expect, test } from "vitest";
import { barPosition } from "#components/runs/loops/time-bar.tsx";

test("a bar stands at its start and is as wide as its share", () => {
  expect(barPosition({ begin: 1000, total: 2000, start: 1500, duration: 500 })).toEqual({
    left: 25,
    width: 25,
    duration: "500 ms",
    offset: "500 ms",
    share: "25 %",
  });
});

test("a bar is never too thin to see, nor outside of the run", () => {
  expect(barPosition({ begin: 0, total: 10_000, start: 10_000, duration: 1 })).toMatchObject({ left: 99.5, width: 0.5 });
  expect(barPosition({ begin: 1000, total: 100, start: 900, duration: 5000 })).toMatchObject({ left: 0, width: 100 });
});
