import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { pool } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { sha256 } from "#server/secrets.ts";

const made = new Map<string, RateLimiterPostgres>();

/**
 * So many things in so many seconds for each key, counted in the database: for all processes together, and past a restart.
 * @param name tells its keys from those of others
 */
export function limiterOf(name: string, points: number, seconds: number): RateLimiterPostgres {
  const id = `${name} ${points} ${seconds}`;
  let limiter = made.get(id);
  if (!limiter) {
    const table = { storeClient: pool(), storeType: "pool", tableName: "rate_limits", tableCreated: true };
    limiter = new RateLimiterPostgres({ ...table, keyPrefix: name, points, duration: seconds });
    made.set(id, limiter);
  }
  return limiter;
}

/** A key of any length and alphabet as the table takes it. */
export const keyOf = (...parts: string[]): string => sha256(parts.join("\n"));

const inWords = (seconds: number): string => {
  const minutes = Math.ceil(seconds / 60);
  return minutes === 1 ? "a minute" : `${minutes} minutes`;
};

/**
 * Counts one more, before it is done: of many at once none slips through.
 * @param what there are too many of, e.g. `tries`
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function consume(limiter: RateLimiterPostgres, key: string, what: string): Promise<void> {
  try {
    await limiter.consume(key);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const retryAfter = refused.msBeforeNext / 1000;
    throw new AppError("RATE_LIMIT_EXCEEDED", `Too many ${what}. Wait ${inWords(retryAfter)} and try again.`, { retryAfter });
  }
}
