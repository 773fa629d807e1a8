import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";

interface Window {
  limit: number;
  limiter: RateLimiterMemory;
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

/**
 * The two windows that each client address has: a minute, and 5 seconds for bursts. They are counted in this process.
 * @param perMinute requests a minute; 0 turns the window off
 * @param burst requests in 5 seconds; 0 turns the window off
 */
export function createRateLimit(perMinute: number, burst: number) {
  const windows: Window[] = [
    { limit: burst, duration: 5 },
    { limit: perMinute, duration: 60 },
  ].flatMap(({ limit, duration }) => (limit > 0 ? [{ limit, limiter: new RateLimiterMemory({ points: limit, duration }) }] : []));

  const look = async ({ limit, limiter }: Window, address: string): Promise<Reading> => {
    const state = await limiter.get(address);
    const isLive = state !== null && state.msBeforeNext > 0;
    return { limit, remaining: isLive ? state.remainingPoints : limit, msBeforeNext: isLive ? state.msBeforeNext : 0, isRefused: false };
  };

  return {
    /** Counts one request. A request that one window refuses is not counted in the next. */
    async count(address: string): Promise<Verdict> {
      const readings: Reading[] = [];
      let isRefused = false;
      for (const window of windows) {
        if (isRefused) {
          readings.push(await look(window, address));
          continue;
        }
        const state = await window.limiter.consume(address).catch((refused: unknown) => {
          if (!(refused instanceof RateLimiterRes)) throw refused;
          isRefused = true;
          return refused;
        });
        readings.push({ limit: window.limit, remaining: state.remainingPoints, msBeforeNext: state.msBeforeNext, isRefused });
      }
      return verdict(readings);
    },
    /** The state without counting. */
    async peek(address: string): Promise<Verdict> {
      return verdict(await Promise.all(windows.map((window) => look(window, address))));
    },
  };
}
