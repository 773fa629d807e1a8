/** How dates and numbers are written, and in which zone, for whoever looks: what the profile says. Left out, as for everybody. */
export interface ChosenFormat {
  /** BCP 47, such as de-DE. */
  locale?: string;
  /** IANA, such as Europe/Berlin. */
  timeZone?: string;
}

let chosen: ChosenFormat = {};
let number = new Intl.NumberFormat("en");

/** Writes from now on as somebody has chosen. In a browser only: a server writes for many people at once. */
export function setFormat(format: ChosenFormat): void {
  if (typeof window === "undefined") return;
  chosen = format;
  number = new Intl.NumberFormat(format.locale ?? "en");
}
export const chosenFormat = (): ChosenFormat => chosen;

const dateLocale = (): string => chosen.locale ?? "en-GB";
const inZone = <Options extends Intl.DateTimeFormatOptions>(options: Options) => ({
  ...options,
  ...(chosen.timeZone !== undefined && { timeZone: chosen.timeZone }),
});

/** Milliseconds as people say them: `340 ms`, `1.2 s`, `14 s`, `2 min 5 s`, `1 h 12 min`. */
export function formatDuration(ms: number): string {
  if (ms < 1000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1000;
  if (seconds < 9.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  if (minutes < 60) return whole % 60 === 0 ? `${minutes} min` : `${minutes} min ${whole % 60} s`;
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return minutes % 60 === 0 ? `${hours} h` : `${hours} h ${minutes % 60} min`;
  return `${Math.floor(hours / 24)} d ${hours % 24} h`;
}

/**
 * How long ago (or ahead) a time is: `just now`, `4 min ago`, `3 h ago`, `yesterday`, `5 d ago`, `in 2 h`; the date after a month.
 * @param time ISO 8601
 */
export function formatRelative(time: string, now: number = Date.now()): string {
  const distance = now - Date.parse(time);
  const isAhead = distance < 0;
  const minutes = Math.round(Math.abs(distance) / 60_000);
  const say = (text: string) => (isAhead ? `in ${text}` : `${text} ago`);
  if (minutes < 1) return isAhead ? "in a moment" : "just now";
  if (minutes < 60) return say(`${minutes} min`);
  const hours = Math.round(minutes / 60);
  if (hours < 24) return say(`${hours} h`);
  const days = Math.round(hours / 24);
  if (days === 1) return isAhead ? "tomorrow" : "yesterday";
  if (days < 31) return say(`${days} d`);
  return formatDate(time);
}

/** A day in the reader's own zone: `21 Nov 2026`. */
export const formatDate = (time: string): string =>
  new Date(time).toLocaleDateString(dateLocale(), inZone({ day: "numeric", month: "short", year: "numeric" }));

/** The time of day, such as 14:05. */
export const formatClock = (time: string): string =>
  new Date(time).toLocaleTimeString(dateLocale(), inZone({ hour: "2-digit", minute: "2-digit" }));

/** A moment in the reader's own zone, to the second: `21 Nov 2026, 14:02:07`. */
export const formatDateTime = (time: string): string =>
  new Date(time).toLocaleString(
    dateLocale(),
    inZone({ day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" }),
  );

/** A count with thousands marked: `12,480`. Set it with the `tabular` class where it stands in a column. */
export const formatCount = (count: number): string => number.format(count);

/** Tokens in and out: `1,204 in · 88 out`; with those that came from a cache `1,204 in (1,024 cached) · 88 out`. */
export const formatTokens = (input: number, output: number, cached = 0): string =>
  `${formatCount(input)} in${cached > 0 ? ` (${formatCount(cached)} cached)` : ""} · ${formatCount(output)} out`;

/** US dollars, small ones with two digits that say something: `$0`, `$0.000042`, `$0.0031`, `$1.24`, `$1,204.50`. */
export function formatCost(usd: number): string {
  if (usd === 0) return "$0";
  const digits = usd >= 0.1 ? 2 : Math.min(12, Math.max(2, 1 - Math.floor(Math.log10(usd))));
  return `$${usd.toLocaleString(chosen.locale ?? "en", { minimumFractionDigits: 2, maximumFractionDigits: digits })}`;
}

/** Bytes in the unit that fits: `512 B`, `3.4 kB`, `12 MB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1000) return `${bytes} B`;
  const units = ["kB", "MB", "GB", "TB"];
  const power = Math.min(Math.floor(Math.log10(bytes) / 3), units.length);
  const value = bytes / 1000 ** power;
  return `${value < 9.95 ? value.toFixed(1) : Math.round(value)} ${units[power - 1]}`;
}

/** `1 agent`, `3 agents`. */
export const plural = (count: number, one: string, many = `${one}s`): string => `${formatCount(count)} ${count === 1 ? one : many}`;

/** Units of a span of time, in seconds. */
export const SPAN_UNITS = { second: 1, minute: 60, hour: 3600, day: 86_400 } as const;
export type SpanUnit = keyof typeof SPAN_UNITS;

/** A span in the largest unit in which it is a whole number: 5400 s are 90 minutes; in seconds where there is none. */
export function spanOf(seconds: number): { count: number; unit: SpanUnit } {
  const whole = Math.round(seconds * 1000) / 1000;
  const unit = (["day", "hour", "minute"] as const).find((one) => whole >= SPAN_UNITS[one] && whole % SPAN_UNITS[one] === 0) ?? "second";
  return { count: whole / SPAN_UNITS[unit], unit };
}

/** A span in words: `1 minute`, `90 seconds`, `3 days`. */
export function formatSpan(seconds: number): string {
  const { count, unit } = spanOf(seconds);
  return plural(count, unit);
}

const DAY_MS = 86_400_000;

/** A moment ahead, as short as it is clear: `14:05` today, `Tue 14:00` within a week, else `24 Dec, 14:00`, with the year where it is another. */
export function formatUntil(time: string, now: Date = new Date()): string {
  const then = new Date(time);
  const clock = formatClock(time);
  if (formatDate(time) === formatDate(now.toISOString())) return clock;
  if (then > now && then.getTime() - now.getTime() < 6 * DAY_MS)
    return `${then.toLocaleDateString(dateLocale(), inZone({ weekday: "short" }))} ${clock}`;
  const year = then.getFullYear() === now.getFullYear() ? {} : { year: "numeric" as const };
  return `${then.toLocaleDateString(dateLocale(), inZone({ day: "numeric", month: "short", ...year }))}, ${clock}`;
}

/** Returns the name of a loop item for people, who count from 1: path `3.0` is "item 4.1". */
export const formatItem = (path: string): string =>
  `item ${path
    .split(".")
    .map((index) => Number(index) + 1)
    .join(".")}`;
