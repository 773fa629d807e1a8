import { expect, test } from "vitest";
import { type ChartWidget, chartModel, nearestStop } from "#components/canvases/widgets/chart-model.ts";
import { slicesOf } from "#components/canvases/widgets/pie-body.tsx";

const reader = { locale: "en-GB", timeZone: "UTC" };
const point = (x: string | number, y: number | null) => ({ x, y, execution_id: "e", completed_at: "2026-11-21T12:00:00.000Z" });
const model = (
  options: Partial<ChartWidget["options"]>,
  points: ReturnType<typeof point>[],
  versions?: { version: number; created_at: string }[],
) => chartModel({ kind: "line", y: "$", ...options }, { series: [{ name: "y", points }], ...(versions && { versions }) }, reader, 5);
const day = (number: number) => `2026-11-${number.toString().padStart(2, "0")}T00:00:00.000Z`;

test("bars begin at zero, above it and below it", () => {
  const { bars, zero, y } = model({ kind: "bar" }, [point("a", 90), point("b", 100)]);
  expect(zero).toBe(100);
  expect(y[0]).toMatchObject({ text: "0", at: 100 });
  expect(bars.map(({ top, height }) => Math.round(top + height))).toEqual([100, 100]);
  const mixed = model({ kind: "bar" }, [point("a", -60), point("b", 60)]);
  expect(mixed.zero).toBe(50);
  expect(mixed.bars.map(({ top, height }) => [top, height])).toEqual([
    [50, 50],
    [0, 50],
  ]);
});

test("a line whose values lie far from zero begins near them, and says so by its ticks", () => {
  expect(model({}, [point("a", 990), point("b", 1000)]).zero).toBeNull();
  expect(model({}, [point("a", 10), point("b", 1000)]).zero).toBe(100);
  expect(model({ kind: "area" }, [point("a", 990), point("b", 1000)]).zero).toBe(100);
});

test("a missing value and a bucket in which nothing ran are gaps", () => {
  expect(model({}, [point("a", 1), point("b", null), point("c", 3)]).lines[0]?.map((part) => part.length)).toEqual([1, 1]);
  const days = [point(day(1), 1), point(day(2), 2), point(day(5), 3)];
  expect(model({ over: "runs", bucket: "day" }, days).lines[0]?.map((part) => part.length)).toEqual([2, 1]);
  expect(model({ over: "runs", bucket: "run" }, days).lines[0]?.map((part) => part.length)).toEqual([3]);
});

test("bars of days stand in their days, each as wide as a day", () => {
  const { bars, stops } = model({ kind: "bar", over: "runs", bucket: "day" }, [point(day(1), 1), point(day(4), 2)]);
  expect(stops.map(({ at, name }) => [at, name])).toEqual([
    [12.5, "1 Nov 2026"],
    [87.5, "4 Nov 2026"],
  ]);
  expect(bars.map(({ width }) => Math.round(width))).toEqual([19, 19]);
});

test("a new version of the workflow stands where it was published, when that is in sight", () => {
  const versions = [
    { version: 2, created_at: day(3) },
    { version: 3, created_at: day(9) },
  ];
  const shown = model({ over: "runs", bucket: "run" }, [point(day(1), 1), point(day(5), 2)], versions).versions;
  expect(shown).toEqual([{ version: 2, at: 50, created_at: day(3) }]);
});

test("runs within one minute are told apart by their seconds", () => {
  const at = (second: number) => point(`2026-11-21T12:00:0${second}.000Z`, 1);
  expect(model({ over: "runs" }, [at(1), at(5), at(9)]).x.map(({ text }) => text)).toContain("12:00:04");
});

test("labels under an axis that has no room for all stand equally far apart, and none says the same as the one before", () => {
  const months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep"].map((name) => point(name, 1));
  const upTo = (level: number, { x }: ReturnType<typeof model>) => x.filter((tick) => tick.level <= level).map(({ text }) => text);
  const short = model({ kind: "bar" }, months);
  expect([upTo(0, short), upTo(1, short).length]).toEqual([["Jan", "Mar", "May", "Jul", "Sep"], 9]);
  const long = model(
    { kind: "bar" },
    months.map(({ x }) => point(`Turnover of the month of ${x}`, 1)),
  );
  expect([0, 1].map((level) => upTo(level, long).map((text) => text.slice(-3)))).toEqual([
    ["Jan", "May", "Sep"],
    ["Jan", "Mar", "May", "Jul", "Sep"],
  ]);
  // A bar without a name says nothing: where there is room for its beginning, it has that.
  expect([upTo(2, long).length, Math.max(...long.x.map(({ width = 100 }) => width * 9))]).toEqual([9, 100]);
  const second = [100, 300, 700].map((ms) => point(`2026-11-21T12:00:01.${ms}Z`, 1));
  expect(upTo(2, model({ over: "runs" }, second))).toEqual(["12:00:01"]);
});

test("the nearest point is found, and whole numbers have whole ticks", () => {
  const { stops, y } = model({}, [point(0, 1), point(10, 2)]);
  expect([nearestStop(stops, 40), nearestStop(stops, 60)]).toEqual([0, 1]);
  expect(y.every(({ text }) => /^\d+$/.test(text))).toBe(true);
});

test("shares are the largest first, the small ones beyond the colours are one, and what is not above zero has none", () => {
  const points = [...Array.from({ length: 10 }, (_, index) => point(`n${index}`, index)), point("less", -1)];
  const slices = slicesOf(points, ({ x }) => String(x));
  expect(slices.map(({ name, y }) => `${name} ${y}`)).toEqual(["n9 9", "n8 8", "n7 7", "n6 6", "n5 5", "n4 4", "n3 3", "2 others 3"]);
});
