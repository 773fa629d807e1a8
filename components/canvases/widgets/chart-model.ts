import { scaleLinear, scaleTime, scaleUtc } from "d3-scale";
import { formatNumber, formatTime, type Reader, type TimeLook, timeOf } from "#components/canvases/widgets/reader.ts";
import type { Widget, WidgetData } from "#server/features/canvases/schema.ts";

export type ChartWidget = Extract<Widget, { type: "chart" }>;
type Series = NonNullable<WidgetData["series"]>;
export type Point = Series[number]["points"][number];
type Bucket = NonNullable<ChartWidget["options"]["bucket"]>;

/** All positions are hundredths of the plot, from its left and its top: it is drawn before anybody knows its size. */
export interface Tick {
  at: number;
  text: string;
  /** 0: shown however narrow the chart is; 1: from 28 rem; 2: from 42 rem. */
  level: 0 | 1 | 2;
  /** How wide the text may be, in percent of the axis; as wide as it is when it says nothing. */
  width?: number;
}

/** Where the pointer or the keyboard can stand: all that is there at one place of the x axis. */
export interface Stop {
  at: number;
  name: string;
  values: { series: number; top: number; y: number; point: Point }[];
}

export interface ChartModel {
  x: Tick[];
  y: Tick[];
  /** Where zero is; null when it is not in sight. */
  zero: number | null;
  stops: Stop[];
  /** Of each series the stretches between its gaps. */
  lines: { at: number; top: number }[][][];
  bars: { series: number; stop: number; at: number; width: number; top: number; height: number }[];
  versions: { at: number; version: number; created_at: string }[];
}

const DAY = 86_400_000;

/** When the bucket that begins at `start` ends. */
function endOf(start: number, bucket: Exclude<Bucket, "run">): number {
  if (bucket === "hour") return start + DAY / 24;
  if (bucket === "day") return start + DAY;
  if (bucket === "week") return start + 7 * DAY;
  const date = new Date(start);
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1);
}

/** What stands under the axis. */
interface Axis {
  /** Where a point stands. */
  place(point: Point, index: number): number;
  /** How wide its bar may be. */
  width(point: Point): number;
  name(point: Point): string;
  ticks: Tick[];
  /** Where a moment is; undefined when the axis is not one of time, or it lies beside. */
  moment(time: number): number | undefined;
  /** Whether there is a gap between two neighbours. */
  isGap(left: Point, right: Point): boolean;
}

const share = (value: number, from: number, to: number): number => (to === from ? 50 : ((value - from) / (to - from)) * 100);

/** Width of the plot of a narrow chart, of one of 28 and of one of 42 rem, beside the labels of its y axis, in pixels. */
const ROOMS = [180, 380, 600] as const;
/** Of a label under the axis, in pixels: a character, the space to the next one, the most, and what a name may be cut down to. */
const LABEL = { character: 6.2, space: 14, most: 110, cut: 60 } as const;

/**
 * Leaves out ticks where there is no room for all, so that those that are left stand equally far apart, and those that say the same again.
 * @param room how much room the longest is given, in pixels
 */
function withLevels(all: readonly Omit<Tick, "level">[], room: number = LABEL.most): Tick[] {
  const ticks = all.filter(({ text }, index) => index === 0 || text !== all[index - 1]?.text);
  const longest = Math.max(0, ...ticks.map(({ text }) => text.length));
  const each = Math.min(room, longest * LABEL.character + LABEL.space);
  // Every how many of them; what a narrow chart shows, a wider one shows too.
  let every = 1;
  const [few = 1, some = 1, most = 1] = ROOMS.toReversed()
    .map((width) => {
      const fitting = Math.max(2, Math.floor(width / each));
      every *= Math.ceil(Math.ceil(ticks.length / fitting) / every);
      return every;
    })
    .toReversed();
  return ticks.flatMap((tick, index) =>
    index % most === 0
      ? [{ ...tick, ...(tick.width && { width: tick.width * most }), level: index % few === 0 ? 0 : index % some === 0 ? 1 : 2 }]
      : [],
  );
}

/** How a moment is written under an axis whose ticks lie `step` milliseconds apart. */
const tickLook = (step: number): TimeLook =>
  step >= 360 * DAY ? "year" : step >= 27 * DAY ? "month" : step >= DAY * 0.9 ? "day" : step >= 60_000 ? "clock" : "exactly";

function timeAxis(points: readonly Point[], bucket: Bucket | undefined, isBar: boolean, reader: Reader): Axis {
  const times = points.map(({ x }) => timeOf(x) ?? 0);
  const step = bucket === undefined || bucket === "run" ? undefined : bucket;
  // A day, a week and a month are those of UTC, whoever looks.
  const isUtc = (step !== undefined && step !== "hour") || points.every(({ x }) => String(x).length === 10);
  const zone = isUtc ? "UTC" : reader.timeZone;
  const from = Math.min(...times);
  const last = Math.max(...times);
  const to = isBar && step ? endOf(last, step) : last;
  const half = (time: number) => (isBar && step ? (endOf(time, step) - time) / 2 : 0);
  const scale = (zone === "UTC" ? scaleUtc() : scaleTime()).domain([from, to]);
  const shortest = step ? endOf(from, step) - from : 0;
  const all = scale.ticks(Math.min(12, Math.max(4, points.length))).map(Number);
  const wanted = all.length > 0 ? all : [from];
  const apart = Math.max((wanted[1] ?? wanted[0] ?? 0) - (wanted[0] ?? 0), shortest);
  const look = wanted.length === 1 && !step ? "minute" : tickLook(apart);
  const write = (time: number) => {
    const isMidnight = look === "clock" && formatTime(reader, time, "clock", zone) === formatTime(reader, 0, "clock", "UTC");
    return formatTime(reader, time, isMidnight ? "day" : look, zone);
  };
  const ticks = wanted.map((time) => ({ at: share(time + half(time), from, to), text: write(time) }));
  const named: TimeLook =
    step === undefined ? (isUtc ? "date" : "second") : step === "hour" ? "minute" : step === "month" ? "month" : "date";
  return {
    place: ({ x }) => {
      const time = timeOf(x) ?? 0;
      return share(time + half(time), from, to);
    },
    width: ({ x }) => {
      const time = timeOf(x) ?? 0;
      return step ? share(endOf(time, step), from, to) - share(time, from, to) : 0;
    },
    name: ({ x }) => `${step === "week" ? "Week of " : ""}${formatTime(reader, timeOf(x) ?? 0, named, zone)}`,
    ticks: withLevels(ticks.filter(({ at }) => at >= 0 && at <= 100)),
    moment: (time) => (time < from || time > to ? undefined : share(time, from, to)),
    isGap: (left, right) => step !== undefined && (timeOf(right.x) ?? 0) > endOf(timeOf(left.x) ?? 0, step),
  };
}

function numberAxis(points: readonly Point[], reader: Reader): Axis {
  const values = points.map(({ x }) => Number(x));
  const scale = scaleLinear().domain([Math.min(...values), Math.max(...values)]);
  const [from = 0, to = 1] = scale.domain();
  const ticks = scale.ticks(10).map((value) => ({ at: share(value, from, to), text: formatNumber(reader, value) }));
  return {
    place: ({ x }) => share(Number(x), from, to),
    width: () => 0,
    name: ({ x }) => formatNumber(reader, Number(x)),
    ticks: withLevels(ticks),
    moment: () => undefined,
    isGap: () => false,
  };
}

/** One place for each name, in the order they came in. Runs one by one are such names too, when they are bars. */
function nameAxis(points: readonly Point[], reader: Reader): Axis {
  const names = [...new Set(points.map(({ x }) => x))];
  const place = new Map(names.map((x, index) => [x, ((index + 0.5) / names.length) * 100]));
  const times = names.map(timeOf);
  const isTime = times.length > 0 && times.every((time) => time !== undefined);
  const isText = !isTime && names.some((x) => typeof x === "string");
  const isDate = names.every((x) => String(x).length === 10);
  const span = isTime ? Math.max(...times) - Math.min(...times) : 0;
  const write = (x: string | number, look: TimeLook) => {
    const time = isTime ? timeOf(x) : undefined;
    if (time !== undefined) return formatTime(reader, time, look, isDate ? "UTC" : undefined);
    return typeof x === "number" ? formatNumber(reader, x) : x;
  };
  const every = Math.ceil(names.length / 12);
  const ticks = names
    .map((x) => ({ at: place.get(x) ?? 0, text: write(x, isDate || span > DAY ? "day" : "clock") }))
    .filter((_, index) => index % every === 0)
    // Of a name its beginning says more than nothing; of a moment or a number it says something else.
    .map((tick) => (isText ? { ...tick, width: (100 / names.length) * every } : tick));
  return {
    place: ({ x }) => place.get(x) ?? 0,
    width: () => 100 / Math.max(1, names.length),
    name: ({ x }) => write(x, isDate ? "date" : "second"),
    ticks: withLevels(ticks, isText ? LABEL.cut : LABEL.most),
    moment: (time) => {
      if (!isTime || time < Math.min(...times)) return undefined;
      const after = times.findIndex((one) => one > time);
      return after < 0 ? undefined : (after / names.length) * 100;
    },
    isGap: () => false,
  };
}

function axisOf(points: readonly Point[], { kind, over, bucket }: ChartWidget["options"], reader: Reader): Axis {
  const isBar = kind === "bar";
  const isBucketed = over === "runs" && bucket !== undefined && bucket !== "run";
  if (points.every(({ x }) => timeOf(x) !== undefined) && (isBucketed || !isBar))
    return timeAxis(points, over === "runs" ? bucket : undefined, isBar, reader);
  if (!isBar && points.every(({ x }) => typeof x === "number")) return numberAxis(points, reader);
  return nameAxis(points, reader);
}

/** How the y axis runs: from zero where a size is what one sees; a line whose values lie far from zero may begin near them. */
function scaleOf(values: readonly number[], kind: ChartWidget["options"]["kind"], count: number) {
  let [low, high] = [Math.min(...values), Math.max(...values)];
  const isNear = low >= 0 ? low < high * 0.6 : high > 0 || high > low * 0.6;
  if (kind !== "line" || isNear) [low, high] = [Math.min(0, low), Math.max(0, high)];
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) * 0.1, high + Math.abs(high) * 0.1];
  return scaleLinear().domain([low, high]).nice(count);
}

/**
 * Where everything of a bar, line or area chart stands.
 * @param rows height of the widget in rows of the grid, for the number of ticks
 */
export function chartModel(
  options: ChartWidget["options"],
  data: Pick<WidgetData, "series" | "versions">,
  reader: Reader,
  rows: number,
): ChartModel {
  const series = data.series ?? [];
  const points = series.flatMap((one) => one.points);
  const values = points.flatMap(({ y }) => (y === null ? [] : [y]));
  const axis = axisOf(points, options, reader);
  const count = rows <= 3 ? 2 : rows <= 6 ? 4 : 6;
  const scale = scaleOf(values, options.kind, count);
  const [low = 0, high = 1] = scale.domain();
  const topOf = (y: number) => 100 - share(y, low, high);
  const isWhole = values.every(Number.isInteger);
  const isCompact = Math.max(Math.abs(low), Math.abs(high)) >= 10_000;
  const ticks = scale.ticks(count).filter((tick) => !isWhole || Number.isInteger(tick));
  const y = ticks.map((value) => ({ at: topOf(value), text: formatNumber(reader, value, { isCompact }), level: 0 as const }));
  const zero = low <= 0 && high >= 0 ? topOf(0) : null;

  const stops = new Map<string | number, Stop>();
  for (const [number, one] of series.entries())
    for (const [index, point] of one.points.entries()) {
      // Runs that ended in one millisecond are two stops all the same.
      const key = options.kind !== "bar" && options.over === "runs" ? `${point.x} ${series.length > 1 ? "" : index}` : point.x;
      const stop = stops.get(key) ?? { at: axis.place(point, index), name: axis.name(point), values: [] };
      if (point.y !== null) stop.values.push({ series: number, top: topOf(point.y), y: point.y, point });
      stops.set(key, stop);
    }
  const ordered = [...stops.values()].sort((a, b) => a.at - b.at);

  const base = zero ?? 100;
  const bars =
    options.kind !== "bar"
      ? []
      : ordered.flatMap((stop, place) =>
          stop.values.map(({ series: number, top, point }) => {
            const room = axis.width(point) * (ordered.length > 150 ? 1 : 0.76);
            const width = room / Math.max(1, series.length);
            const at = stop.at - room / 2 + width * number;
            return { series: number, stop: place, at, width, top: Math.min(top, base), height: Math.abs(base - top) };
          }),
        );
  const lines = options.kind === "bar" ? [] : series.map((one) => stretches(one.points, axis, topOf));
  const versions = (data.versions ?? []).flatMap(({ version, created_at }) => {
    const at = axis.moment(Date.parse(created_at));
    return at === undefined ? [] : [{ at, version, created_at }];
  });
  return { x: axis.ticks, y, zero, stops: ordered, lines, bars, versions };
}

/** The points of a line between its gaps: a value that is missing, or a bucket in which nothing ran. */
function stretches(points: readonly Point[], axis: Axis, topOf: (y: number) => number): { at: number; top: number }[][] {
  const ordered = points.map((point, index) => ({ point, at: axis.place(point, index) })).sort((a, b) => a.at - b.at);
  const all: { at: number; top: number }[][] = [];
  let last: Point | null = null;
  for (const { point, at } of ordered) {
    if (point.y === null) {
      last = null;
      continue;
    }
    const place = { at, top: topOf(point.y) };
    const open = all.at(-1);
    if (last && open && !axis.isGap(last, point)) open.push(place);
    else all.push([place]);
    last = point;
  }
  return all;
}

/** The stop nearest to a place of the x axis. */
export function nearestStop(stops: readonly Stop[], at: number): number {
  let best = 0;
  for (const [index, stop] of stops.entries()) if (Math.abs(stop.at - at) < Math.abs((stops[best]?.at ?? 0) - at)) best = index;
  return best;
}
