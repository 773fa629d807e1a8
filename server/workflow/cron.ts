import { Cron } from "croner";
import { isTimezone } from "#server/workflow/nodes/trigger-node.ts";

// Cron expressions with five fields, in an IANA time zone. Pure: the same answer at any time for the same `from`.
// On the days when clocks change: a time that the day leaves out fires when the clock has jumped, unless another fire is
// close; a time that the day has twice fires at the first of the two; and what runs in every hour goes on in real time.

/** Closest that two fires may be, in minutes (specification, Limits). */
export const MIN_MINUTES = 5;

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

export interface CronSchedule {
  cron_expression: string;
  timezone: string;
}

/** Thrown for a schedule that cannot be used; the text says what to do about it. */
export class CronError extends Error {
  override name = "CronError";
  readonly field: "cron_expression" | "timezone";

  constructor(field: "cron_expression" | "timezone", message: string) {
    super(message);
    this.field = field;
  }
}

const NUMBERS = /^[\d*,/-]+$/;
const MONTHS = /^(?:[\d*,/-]|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)+$/i;
const WEEKDAYS = /^(?:[\d*,/-]|sun|mon|tue|wed|thu|fri|sat)+$/i;
/** One of the parts between commas: a star, a value or a range, and perhaps a step. */
const PART = /^(?:\*|\w+(?:-\w+)?)(?:\/\d+)?$/;
const FIELDS = [
  { name: "minute", shape: NUMBERS, least: 0, most: 59 },
  { name: "hour", shape: NUMBERS, least: 0, most: 23 },
  { name: "day of month", shape: NUMBERS, least: 1, most: 31 },
  { name: "month", shape: MONTHS, least: 1, most: 12 },
  { name: "day of week", shape: WEEKDAYS, least: 0, most: 7 },
];

/** What is wrong with one field, as a sentence. croner counts days and months from 0 in what it says. */
function fieldFault(text: string, { name, shape, least, most }: (typeof FIELDS)[number]): string | undefined {
  const parts = text.split(",");
  if (!shape.test(text) || !parts.every((part) => PART.test(part))) return `The ${name} of the cron expression cannot be read: ${text}`;
  const values = parts.flatMap((part) => (part.split("/")[0] ?? "").split("-")).filter((value) => /^\d+$/.test(value));
  const wrong = values.find((value) => Number(value) < least || Number(value) > most);
  return wrong === undefined ? undefined : `The ${name} goes from ${least} to ${most}, and the cron expression says ${wrong}.`;
}

/** A bare offset, which is no name of a zone: a save refuses it, and one that an older save took goes on. */
const OFFSET = /^[+-]\d\d:?\d\d$/;
const noZone = (timezone: string) =>
  new CronError("timezone", `There is no time zone "${timezone}". Use an IANA name such as UTC or Europe/Berlin.`);

const job = (pattern: string, timezone: string): Cron =>
  new Cron(pattern, { paused: true, timezone, mode: "5-part", fixedTimeRule: "no-wildcard" });

/** Every value of a field that croner can read, such as 0,20,40 for a star in steps of 20. */
function valuesOf(field: string, most: number): number[] {
  const values = field.split(",").flatMap((part) => {
    const [range = "", step = "1"] = part.split("/");
    const [first = 0, last = first] = range === "*" ? [0, most] : range.split("-").map(Number);
    return Array.from({ length: Math.floor((last - first) / Number(step)) + 1 }, (_, index) => first + index * Number(step));
  });
  return [...new Set(values)].sort((a, b) => a - b);
}

/** To croner only what has neither star nor step is a time of day; what leaves out an hour is one too, however it is written. */
function timesOfDay(fields: readonly string[]): string {
  const [minute = "", hour = "", ...day] = fields;
  const hours = valuesOf(hour, 23);
  return hours.length === 24 ? [minute, "*", ...day].join(" ") : [valuesOf(minute, 59), hours, ...day].join(" ");
}

/** croner takes more than the standard five fields (seconds, L, W, #, @daily): only the standard is let through. */
function parsed({ cron_expression, timezone }: CronSchedule): { cron: Cron; fields: string[] } {
  const fields = cron_expression.trim().split(/\s+/);
  const refuse = (message: string) => new CronError("cron_expression", message);
  if (fields.length !== FIELDS.length)
    throw refuse("A cron expression has five fields: minute, hour, day of month, month, day of week. For example 0 9 * * 1-5.");
  for (const [index, field] of FIELDS.entries()) {
    const fault = fieldFault(fields[index] ?? "", field);
    if (fault) throw refuse(fault);
  }
  if (!isTimezone(timezone) && !OFFSET.test(timezone)) throw noZone(timezone);
  try {
    job(fields.join(" "), timezone);
    return { cron: job(timesOfDay(fields), timezone), fields };
  } catch (error) {
    const reason = (error instanceof Error ? error.message : "").replace(/^CronPattern: /, "");
    throw refuse(`The cron expression cannot be read: ${reason || cron_expression}`);
  }
}

/** True when a fire makes up for a time that the day leaves out, and the schedule fires within five minutes of it anyway. */
function isNeedless(cron: Cron, at: Date): boolean {
  if (cron.match(at)) return false;
  const limit = MIN_MINUTES * MINUTE_MS;
  const before = cron.nextRun(new Date(at.getTime() - limit));
  const after = cron.nextRun(at);
  return (before !== null && before < at) || (after !== null && after.getTime() - at.getTime() < limit);
}

function fireAfter(cron: Cron, after: Date): Date | null {
  let at = cron.nextRun(after);
  while (at && isNeedless(cron, at)) at = cron.nextRun(at);
  return at;
}

/**
 * The first fire after a moment, or null when there is none.
 * @throws CronError
 */
export const nextFire = (schedule: CronSchedule, after: Date): Date | null => fireAfter(parsed(schedule).cron, after);

/**
 * The next fires after a moment, at most `count`.
 * @throws CronError
 */
export function nextFires(schedule: CronSchedule, after: Date, count: number): Date[] {
  const { cron } = parsed(schedule);
  const fires: Date[] = [];
  for (let at = fireAfter(cron, after); at && fires.length < count; at = fireAfter(cron, at)) fires.push(at);
  return fires;
}

/** Smallest distance of two neighbours, in milliseconds; stops at the first one below the limit. */
function smallestGap(times: Iterable<number>): number {
  let smallest = Number.POSITIVE_INFINITY;
  let before: number | undefined;
  for (const time of times) {
    if (before !== undefined) smallest = Math.min(smallest, time - before);
    if (smallest < MIN_MINUTES * MINUTE_MS) break;
    before = time;
  }
  return smallest;
}

/** The fires after `from` up to `to`, in milliseconds since 1970. */
function* firesBetween(cron: Cron, from: number, to: number): Generator<number> {
  for (let at = fireAfter(cron, new Date(from)); at && at.getTime() <= to; at = fireAfter(cron, at)) yield at.getTime();
}

/** The moments within a year at which the zone's clocks change, in milliseconds since 1970. */
function clockChanges(timezone: string, from: number): number[] {
  const format = new Intl.DateTimeFormat("en", { timeZone: timezone, timeZoneName: "longOffset", hour: "numeric" });
  const offset = (at: number) => format.formatToParts(at).find(({ type }) => type === "timeZoneName")?.value;
  const changes: number[] = [];
  for (let day = from; day < from + 366 * DAY_MS; day += DAY_MS) {
    if (offset(day) === offset(day + DAY_MS)) continue;
    let [before, after] = [day, day + DAY_MS];
    while (after - before > MINUTE_MS) {
      const middle = Math.floor((before + after) / 2);
      if (offset(middle) === offset(day)) before = middle;
      else after = middle;
    }
    changes.push(after);
  }
  return changes;
}

/**
 * "Every so many minutes", five at least: taken as it is, although it begins anew with each hour (specification, Limits and
 * the visual builder), so that what stands last in one hour may be close to the next hour's first.
 */
const isEvery = (minute = ""): boolean => /^\*\/\d+$/.test(minute) && Number(minute.slice(2)) >= MIN_MINUTES;

/**
 * Checks a schedule: readable, in a zone that exists, with a fire to come, and no two fires within the next year closer
 * than five minutes, unless it is "every N minutes". Looks at one day, at midnights, and at the hours around each change of clocks instead of at every
 * fire of the year: elsewhere one day is like another.
 * @throws CronError
 */
export function checkCron(schedule: CronSchedule, from: Date): void {
  const { cron, fields } = parsed(schedule);
  if (!isTimezone(schedule.timezone)) throw noZone(schedule.timezone);
  const [minute, hour, ...day] = fields;
  const limit = MIN_MINUTES * MINUTE_MS;
  const tooClose = (why: string) =>
    new CronError(
      "cron_expression",
      `This schedule fires more often than every ${MIN_MINUTES} minutes${why}. Space its fires further apart.`,
    );
  if (!cron.nextRun(from)) throw new CronError("cron_expression", "This schedule never fires: no date fits it. Change its day or month.");
  if (isEvery(minute)) return;
  const start = Date.UTC(2001, 0, 1); // any day of a zone whose clocks never change
  const times: number[] = [];
  for (const time of firesBetween(job(`${minute} ${hour} * * *`, "UTC"), start - 1, start + DAY_MS - 1)) {
    if (time - (times.at(-1) ?? Number.NEGATIVE_INFINITY) < limit) throw tooClose("");
    times.push(time);
  }
  const overMidnight = (times[0] ?? 0) + DAY_MS - (times.at(-1) ?? 0);
  if (overMidnight < limit) {
    const days = firesBetween(job(`0 0 ${day.join(" ")}`, "UTC"), from.getTime() - DAY_MS, from.getTime() + 367 * DAY_MS);
    if (smallestGap(days) <= DAY_MS) throw tooClose(" around midnight");
  }
  for (const change of clockChanges(schedule.timezone, from.getTime()))
    if (smallestGap(firesBetween(cron, change - 2 * HOUR_MS, change + 3 * HOUR_MS)) < limit)
      throw tooClose(` when clocks change in ${schedule.timezone} on ${new Date(change).toISOString().slice(0, 10)}`);
}
