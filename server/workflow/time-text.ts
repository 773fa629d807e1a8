// Reads times as senders, feeds and files write them. Pure and browser-safe.

const ISO_TIME = /^(\d{4})-(\d{2})-(\d{2})(?:[T ](\d{2}):(\d{2})(?::(\d{2})(?:[.,](\d+))?)?\s?(Z|UTC|GMT|[+-]\d{2}(?::?\d{2})?)?)?$/i;

/** RFC 5322, section 3.3 with the obsolete forms of 4.3, and the first two forms of RFC 9110, section 5.6.7. */
const MAIL_TIME =
  /^(?:[a-z]{3,9},?\s{1,3})?(\d{1,2})[\s-]{1,3}([a-z]{3})[a-z]{0,6}[\s-]{1,3}(\d{2,4})(?:\s{1,3}(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s{0,3}([a-z]{1,4}|[+-]\d{4}))?)?$/i;

/** The form of C's asctime, the third of RFC 9110. */
const C_TIME = /^[a-z]{3}\s{1,3}([a-z]{3})\s{1,3}(\d{1,2})\s(\d{2}):(\d{2}):(\d{2})\s(\d{4})$/i;

const EPOCH = /^-?\d+(?:\.\d+)?$/;

/** Texts that are longer are no time. */
const MAX_LENGTH = 100;

const MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split(" ");

/** Zones by name in hours, of RFC 5322, section 4.3; a name that is not among them counts as UTC there. */
const ZONES: ReadonlyMap<string, number> = new Map([
  ["EST", -5],
  ["EDT", -4],
  ["CST", -6],
  ["CDT", -5],
  ["MST", -7],
  ["MDT", -6],
  ["PST", -8],
  ["PDT", -7],
]);
const UTC_NAMES: readonly string[] = ["Z", "UT", "UTC", "GMT"];

/** Milliseconds since 1970 of a number that counts seconds or milliseconds: 1e11 ms are in 1973, 1e11 s in the year 5138. */
const epochMs = (number: number): number => (Math.abs(number) < 1e11 ? number * 1000 : number);

/** Minutes before UTC; undefined for a zone that is not known. */
function offsetOf(zone: string): number | undefined {
  const name = zone.toUpperCase();
  if (UTC_NAMES.includes(name)) return 0;
  const hours = ZONES.get(name);
  if (hours !== undefined) return hours * 60;
  const [, sign, digits, minutes = "0"] = /^([+-])(\d{2}):?(\d{2})?$/.exec(zone) ?? [];
  if (digits === undefined || Number(digits) > 23 || Number(minutes) > 59) return undefined;
  return (sign === "-" ? -1 : 1) * (Number(digits) * 60 + Number(minutes));
}

/** RFC 5322, section 4.3: two digits are of 1950 to 2049, three count from 1900. */
function fullYear(digits: string): number {
  const year = Number(digits);
  if (digits.length === 4) return year;
  return year + (digits.length === 2 && year < 50 ? 2000 : 1900);
}

interface TimeParts {
  year: number;
  /** 0-based. */
  month: number;
  day: string;
  hour?: string | undefined;
  minute?: string | undefined;
  second?: string | undefined;
  fraction?: string | undefined;
  /** Left out: UTC. */
  zone?: string | undefined;
}

/** Returns undefined for a day or an hour that there is not. */
function dateOf({ year, month, day, hour = "0", minute = "0", second = "0", fraction = "0", zone = "Z" }: TimeParts): Date | undefined {
  const offset = offsetOf(zone);
  const midnight = new Date(0);
  midnight.setUTCFullYear(year, month, Number(day));
  const isDay = midnight.getUTCMonth() === month && midnight.getUTCDate() === Number(day);
  const isMidnight = Number(hour) === 24 && Number(minute) === 0 && Number(second) === 0;
  // A leap second is the first second of the next minute.
  const isTime = (Number(hour) < 24 || isMidnight) && Number(minute) < 60 && Number(second) <= 60;
  if (offset === undefined || !isDay || !isTime) return undefined;
  const minutes = Number(hour) * 60 + Number(minute) - offset;
  return new Date(midnight.getTime() + (minutes * 60 + Number(second)) * 1000 + Math.trunc(Number(`0.${fraction}`) * 1000));
}

/**
 * Reads a time as ISO 8601, RFC 5322 (mail, feeds) or HTTP writes it, or seconds or milliseconds since 1970. Without a zone it is UTC.
 * @returns undefined for anything else, and for a day or an hour that there is not
 */
export function timeOf(value: unknown): Date | undefined {
  const text = typeof value === "number" ? String(value) : typeof value === "string" ? value.trim() : "";
  if (text.length > MAX_LENGTH) return undefined;
  if (EPOCH.test(text)) {
    const date = new Date(epochMs(Number(text)));
    return Number.isNaN(date.getTime()) ? undefined : date;
  }

  const iso = ISO_TIME.exec(text);
  if (iso) {
    const [, year, month, day = "", hour, minute, second, fraction, zone] = iso;
    return dateOf({ year: Number(year), month: Number(month) - 1, day, hour, minute, second, fraction, zone });
  }

  // A comment in brackets may follow the zone.
  const comment = text.endsWith(")") ? text.lastIndexOf("(") : -1;
  const mail = MAIL_TIME.exec((comment === -1 ? text : text.slice(0, comment)).trimEnd());
  if (mail) {
    const [, day = "", month = "", year = "", hour, minute, second, zone] = mail;
    return dateOf({ year: fullYear(year), month: MONTHS.indexOf(month.toLowerCase()), day, hour, minute, second, zone });
  }

  const [, month, day = "", hour, minute, second, year] = C_TIME.exec(text) ?? [];
  if (month === undefined) return undefined;
  return dateOf({ year: Number(year), month: MONTHS.indexOf(month.toLowerCase()), day, hour, minute, second });
}
