"use client";

import { useSyncExternalStore } from "react";
import { chosenFormat } from "#components/format.ts";
import type { Widget, WidgetRange } from "#server/features/canvases/schema.ts";

/** In whose words numbers and times are written. */
export interface Reader {
  /** BCP 47, such as de-DE. */
  locale: string;
  /** IANA, such as Europe/Berlin. */
  timeZone: string;
}

/** What the server draws with: it knows neither. The browser writes the same places anew, none of which changes its size. */
const NOBODY: Reader = { locale: "en-GB", timeZone: "UTC" };

/** Whether it can be formatted in: a system without a language gives its browsers names such as en-US@posix. */
export function isLanguage(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

let here: Reader | undefined;
const ofThisBrowser = (): Reader => {
  here ??= {
    locale: chosenFormat().locale ?? navigator.languages.find(isLanguage) ?? NOBODY.locale,
    timeZone: chosenFormat().timeZone ?? Intl.DateTimeFormat().resolvedOptions().timeZone,
  };
  return here;
};
const never = () => () => {};

/** The language and the time zone of whoever looks. */
export const useReader = (): Reader => useSyncExternalStore(never, ofThisBrowser, () => NOBODY);

const formats = new Map<string, Intl.NumberFormat | Intl.DateTimeFormat>();

/** Making a format takes longer than using it a hundred times. */
function kept<Format extends Intl.NumberFormat | Intl.DateTimeFormat>(key: string, make: () => Format): Format {
  const known = formats.get(key) as Format | undefined;
  if (known) return known;
  const format = make();
  formats.set(key, format);
  return format;
}

/** Digits after the point that a number is worth showing with when nobody said how many. */
function decimalsOf(value: number): number {
  const digits = /\.(\d+)$/.exec(String(value))?.[1]?.length ?? 0;
  if (digits <= 4) return digits;
  // Of a quotient or a sum of fractions: what the eye takes in.
  return Math.abs(value) >= 1 ? 2 : Math.min(12, 2 - Math.floor(Math.log10(Math.abs(value))));
}

export interface NumberLook {
  decimals?: number | undefined;
  /** In thousands, millions: for the ticks of an axis. */
  isCompact?: boolean;
  /** With + as well. */
  isSigned?: boolean;
}

/** A number in the reader's own figures. */
export function formatNumber(
  { locale }: Reader,
  value: number,
  { decimals, isCompact = false, isSigned = false }: NumberLook = {},
): string {
  const digits = decimals ?? decimalsOf(value);
  const signDisplay = isSigned ? "exceptZero" : "auto";
  const format = kept(`${locale} ${digits} ${isCompact} ${isSigned}`, () =>
    isCompact
      ? new Intl.NumberFormat(locale, { notation: "compact", maximumFractionDigits: 2, signDisplay })
      : new Intl.NumberFormat(locale, { minimumFractionDigits: digits, maximumFractionDigits: digits, signDisplay }),
  );
  return format.format(value);
}

/** What stands between a number and its unit: nothing before % and °, else a space that does not break. */
export const unitGap = (unit: string): string => (/^[%‰°]/.test(unit) ? "" : " ");

/** A number with its unit behind it. */
export const formatValue = (reader: Reader, value: number, unit: string | undefined, look?: NumberLook): string =>
  `${formatNumber(reader, value, look)}${unit ? unitGap(unit) + unit : ""}`;

const TIMES = {
  second: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit", second: "2-digit" },
  minute: { day: "numeric", month: "short", year: "numeric", hour: "2-digit", minute: "2-digit" },
  exactly: { hour: "2-digit", minute: "2-digit", second: "2-digit" },
  clock: { hour: "2-digit", minute: "2-digit" },
  weekday: { weekday: "short", day: "numeric" },
  day: { day: "numeric", month: "short" },
  date: { day: "numeric", month: "short", year: "numeric" },
  month: { month: "short", year: "numeric" },
  year: { year: "numeric" },
} as const satisfies Record<string, Intl.DateTimeFormatOptions>;
export type TimeLook = keyof typeof TIMES;

/** A moment in the reader's own words and zone. @param timeZone in place of the reader's: of a day that is one in UTC */
export const formatTime = ({ locale, timeZone }: Reader, time: number | string, look: TimeLook, zone: string = timeZone): string =>
  kept(`${locale} ${zone} ${look}`, () => new Intl.DateTimeFormat(locale, { ...TIMES[look], timeZone: zone })).format(new Date(time));

/** Of which time a widget's runs are. */
export const RANGE_WORDS = {
  "24h": "Last 24 hours",
  "7d": "Last 7 days",
  "30d": "Last 30 days",
  "90d": "Last 90 days",
  all: "All time",
} as const satisfies Record<WidgetRange, string>;

/**
 * Of which time a widget is, in words; null of one that shows the latest run, whenever that was.
 * @param range in place of its own
 */
export function rangeWords({ options }: Widget, range: WidgetRange | undefined): string | null {
  const { over, range: own = "30d" } = (options ?? {}) as { over?: string; range?: WidgetRange }; // cast: texts have neither
  return over === "runs" ? RANGE_WORDS[range ?? own] : null;
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/;

/** Milliseconds of what is written as a date or a moment in ISO 8601; undefined for anything else. A lone date is one in UTC. */
export function timeOf(value: unknown): number | undefined {
  if (typeof value !== "string" || !ISO_TIME.test(value)) return undefined;
  const time = Date.parse(value);
  return Number.isNaN(time) ? undefined : time;
}
