import type { Pool } from "pg";
import { RateLimiterMemory, RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { log } from "#server/log.ts";

interface Window {
  limit: number;
  here: RateLimiterMemory;
  /** Counted in the database, for all web processes together. */
  shared: RateLimiterPostgres | undefined;
}

interface Verdict {
  isAllowed: boolean;
  /** X-RateLimit-… of the tightest window, and Retry-After when refused; empty with both windows off. */
  headers: Record<string, string>;
  /** Seconds until another try makes sense; 0 when allowed. */
  retryAfter: number;
}

interface Reading {
  limit: number;
  remaining: number;
  msBeforeNext: number;
  isRefused: boolean;
}

interface RateLimit {
  /** Counts one request. A request that one window refuses is not counted in the next. */
  count(client: string): Promise<Verdict>;
  /** The state without counting. */
  peek(client: string): Promise<Verdict>;
}

/** For how long each process counts by itself after the database did not answer, in milliseconds. */
const AWAY_MS = 2000;

/**
 * The tightest window: the one with the smallest share of its limit left, and of equals the one that starts anew later.
 * A share is what tells a client how near it is to being refused: 3 of 30 is nearer than 15 of 200.
 */
const byTightness = (a: Reading, b: Reading): number => a.remaining / a.limit - b.remaining / b.limit || b.msBeforeNext - a.msBeforeNext;

function verdict(readings: Reading[]): Verdict {
  const [tightest] = readings.sort(byTightness);
  if (!tightest) return { isAllowed: true, headers: {}, retryAfter: 0 };
  const isAllowed = !readings.some(({ isRefused }) => isRefused);
  const retryAfter = isAllowed
    ? 0
    : Math.max(1, Math.ceil(Math.max(...readings.map((reading) => (reading.remaining === 0 ? reading.msBeforeNext : 0))) / 1000));
  return {
    isAllowed,
    headers: {
      "X-RateLimit-Limit": String(tightest.limit),
      "X-RateLimit-Remaining": String(tightest.remaining),
      "X-RateLimit-Reset": String(Math.ceil((Date.now() + tightest.msBeforeNext) / 1000)),
      ...(!isAllowed && { "Retry-After": String(retryAfter) }),
    },
    retryAfter,
  };
}

/** A limit of 0 turns a window off. What this process knows to be refused it refuses without asking the database again. */
function newWindow(limit: number, seconds: number, pool: Pool | undefined): Window[] {
  if (limit === 0) return [];
  const options = { points: limit, duration: seconds, keyPrefix: `${seconds}s` };
  const shared = pool && {
    storeClient: pool,
    storeType: "pool",
    tableName: "rate_limits",
    tableCreated: true,
    inMemoryBlockOnConsumed: limit,
  };
  return [{ limit, here: new RateLimiterMemory(options), shared: shared && new RateLimiterPostgres({ ...options, ...shared }) }];
}

/**
 * The two windows that each client has: a minute, and 5 seconds for bursts.
 * @param perMinute requests a minute; 0 turns the window off
 * @param burst requests in 5 seconds; 0 turns the window off
 * @param pool where several web processes count together; left out, and while it does not answer, this process counts alone
 */
export function createRateLimit(perMinute: number, burst: number, pool?: Pool): RateLimit {
  const windows = [...newWindow(burst, 5, pool), ...newWindow(perMinute, 60, pool)];
  let awayUntil = 0;

  /** Asks the shared count, or our own while that is away: a limit is no reason to answer nothing. */
  async function ask<Result>({ here, shared }: Window, question: (limiter: RateLimiterMemory | RateLimiterPostgres) => Promise<Result>) {
    if (!shared || Date.now() < awayUntil) return question(here);
    return question(shared).catch((error: unknown) => {
      if (error instanceof RateLimiterRes) throw error;
      log.warn({ err: error }, "requests cannot be counted in the database, this process counts alone for now");
      awayUntil = Date.now() + AWAY_MS;
      return question(here);
    });
  }

  async function consume(window: Window, client: string): Promise<Reading> {
    try {
      const { remainingPoints, msBeforeNext } = await ask(window, (limiter) => limiter.consume(client));
      return { limit: window.limit, remaining: remainingPoints, msBeforeNext, isRefused: false };
    } catch (refused) {
      if (!(refused instanceof RateLimiterRes)) throw refused;
      return { limit: window.limit, remaining: 0, msBeforeNext: refused.msBeforeNext, isRefused: true };
    }
  }

  async function look(window: Window, client: string): Promise<Reading> {
    const state = await ask(window, (limiter) => limiter.get(client));
    const isLive = state !== null && state.msBeforeNext > 0;
    const [remaining, msBeforeNext] = isLive ? [state.remainingPoints, state.msBeforeNext] : [window.limit, 0];
    return { limit: window.limit, remaining, msBeforeNext, isRefused: false };
  }

  return {
    async count(client) {
      const readings: Reading[] = [];
      let isRefused = false;
      for (const window of windows) {
        const reading: Reading = await (isRefused ? look(window, client) : consume(window, client));
        isRefused ||= reading.isRefused;
        readings.push(reading);
      }
      return verdict(readings);
    },
    peek: async (client) => verdict(await Promise.all(windows.map((window) => look(window, client)))),
  };
}
