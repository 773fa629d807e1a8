/** Where the executor takes the time of the app from, so that tests can move it. */
export interface Clock {
  now(): Date;
}

export const systemClock: Clock = { now: () => new Date() };

/** Milliseconds since 1970. */
export const millis = (clock: Clock): number => clock.now().getTime();

const UNITS: Record<string, number> = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1000 };

/**
 * When a time that the SDK wrote is due: a duration such as "1h30m" from `now`, or an ISO date. "" is now.
 * @returns milliseconds since 1970
 * @throws Error when the text is neither
 */
export function dueAt(text: string, now: number): number {
  if (/^(\d+[wdhms])*$/.test(text)) {
    let due = now;
    for (const [, count, unit] of text.matchAll(/(\d+)([wdhms])/g)) due += Number(count) * (UNITS[unit ?? ""] ?? 0);
    return due;
  }
  const date = Date.parse(text);
  if (Number.isNaN(date)) throw new Error(`"${text}" is neither a duration nor a date.`);
  return date;
}

const BACKOFF_SECONDS = [1, 2, 5, 10, 30, 60, 120, 300, 600, 1200, 2400, 3600, 7200];

/**
 * When a failed attempt is due again.
 * @param attempt the number of the attempt that failed, from 0
 * @param retryAfter what the SDK sent: whole seconds or an ISO date
 * @returns milliseconds since 1970
 */
export function retryAt(attempt: number, retryAfter: string | null, now: number): number {
  if (retryAfter) {
    if (/^\d+$/.test(retryAfter)) return now + Number(retryAfter) * 1000;
    const date = Date.parse(retryAfter);
    if (!Number.isNaN(date)) return Math.max(date, now);
  }
  const seconds = BACKOFF_SECONDS[Math.min(attempt, BACKOFF_SECONDS.length - 1)] ?? 1;
  return now + Math.round(seconds * 1000 * (1 + Math.random() / 10));
}
