const DAY_MS = 24 * 60 * 60 * 1000;

/** Returns the instant of a `TimeInput`; of a date, the start of its UTC day. */
export const firstInstant = (time: string): Date => new Date(time);

/** Returns the instant of a `TimeInput`; of a date, the end of its UTC day, which is the start of the next one. */
export const lastInstant = (time: string): Date => new Date(new Date(time).getTime() + (time.includes("T") ? 0 : DAY_MS));
