import type { Pool } from "pg";
import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { log } from "#server/platform/log.ts";
import { MOST_CALLS } from "#server/shared/most-calls.ts";

/** Of the limit, what one address may ask of sign-in: there a call costs more, and a person makes few. */
const SIGN_IN_SHARE = 10;
// Liveness, an Inngest server that signs what it sends, and files that cost nothing.
const FREE = /^\/(api\/(health|inngest)|_next\/static)(\/|$)/;

/** Calls of the web app come several in one request, `/api/trpc/a.b,c.d`; too many are refused where they are read. */
const callsIn = (path: string): number => (path.startsWith("/api/trpc/") ? Math.min(path.split(",").length, MOST_CALLS) : 1);

async function secondsToWait(limiter: RateLimiterMemory, client: string, points: number): Promise<number> {
  try {
    await limiter.consume(client, points);
    return 0;
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    return Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
  }
}

/**
 * What one address may ask of pages, of the calls that they make and of sign-in. Each process counts its own: it keeps
 * floods out, and no person comes near it.
 * @param perMinute the setting RATE_LIMIT_WEB; 0 turns it off
 * @returns how many seconds a client has to wait before this request; 0 when it may go on
 */
export function createWebLimit(perMinute: number): (path: string, client: string) => Promise<number> {
  if (perMinute === 0) return async () => 0;
  const all = new RateLimiterMemory({ points: perMinute, duration: 60 });
  const signIn = new RateLimiterMemory({ points: Math.max(1, Math.ceil(perMinute / SIGN_IN_SHARE)), duration: 60 });
  return async (path, client) => {
    if (FREE.test(path)) return 0;
    const limiter = path === "/api/auth" || path.startsWith("/api/auth/") ? signIn : all;
    return secondsToWait(limiter, client, callsIn(path));
  };
}

/** Milliseconds of the two windows. */
const BURST_MS = 5000;
const MINUTE_MS = 60_000;

interface Verdict {
  isAllowed: boolean;
  /** X-RateLimit-… of the tightest window, and Retry-After when refused; empty with both windows off. */
  headers: Record<string, string>;
  /** Seconds until another try makes sense; 0 when allowed. */
  retryAfter: number;
}

interface RateLimit {
  /** Counts one request, unless it is refused. */
  count(client: string): Promise<Verdict>;
  /** The state without counting. */
  peek(client: string): Promise<Verdict>;
}

/** How many requests each window may hold; 0: any number. */
interface Limits {
  burst: number;
  minute: number;
}

/** What is known of a client: how many milliseconds ago each of its requests of the last minute was counted, the latest last. */
interface Counted {
  isAllowed: boolean;
  ages: number[];
}

interface Counter {
  count(client: string): Promise<Counted> | Counted;
  peek(client: string): Promise<Counted> | Counted;
}

interface Reading {
  limit: number;
  remaining: number;
  /** Until the first of the requests that are counted leaves the window. */
  msBeforeNext: number;
}

/** For how long each process counts by itself after the database did not answer, in milliseconds. */
const AWAY_MS = 2000;

/**
 * The tightest window: the one with the smallest share of its limit left, and of equals the one that frees a place later.
 * A share is what tells a client how near it is to being refused: 3 of 30 is nearer than 15 of 200.
 */
const byTightness = (a: Reading, b: Reading): number => a.remaining / a.limit - b.remaining / b.limit || b.msBeforeNext - a.msBeforeNext;

/** A limit of 0 turns a window off. */
function read(limit: number, ms: number, ages: number[]): Reading[] {
  if (limit === 0) return [];
  const within = ages.filter((age) => age < ms);
  // Of a limit that was lowered meanwhile, more may be counted than there are places.
  const next = within[Math.max(0, within.length - limit)];
  return [{ limit, remaining: Math.max(0, limit - within.length), msBeforeNext: next === undefined ? 0 : ms - next }];
}

const readings = ({ burst, minute }: Limits, ages: number[]): Reading[] => [
  ...read(burst, BURST_MS, ages),
  ...read(minute, MINUTE_MS, ages),
];

/** Milliseconds until one more request fits into every window; 0 when it does now. */
const waitFor = (windows: Reading[]): number =>
  Math.max(0, ...windows.map(({ remaining, msBeforeNext }) => (remaining === 0 ? msBeforeNext : 0)));

function verdict(limits: Limits, { isAllowed, ages }: Counted): Verdict {
  const windows = readings(limits, ages);
  const [tightest] = windows.sort(byTightness);
  if (!tightest) return { isAllowed: true, headers: {}, retryAfter: 0 };
  const retryAfter = isAllowed ? 0 : Math.max(1, Math.ceil(waitFor(windows) / 1000));
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

/** For how long a request has to be remembered. */
const keptMs = ({ minute }: Limits): number => (minute ? MINUTE_MS : BURST_MS);

/** Counts in this process. The times are those of the last minute, so no client holds more of them than the limit lets in. */
function counterHere(limits: Limits): Counter {
  const kept = keptMs(limits);
  // Whoever asked last is at the end, so that those who are gone can be dropped from the beginning.
  const clients = new Map<string, number[]>();
  const look = (client: string, now: number): number[] => {
    for (const [name, times] of clients) {
      if (now - (times.at(-1) ?? 0) < kept) break;
      clients.delete(name);
    }
    return (clients.get(client) ?? []).filter((time) => now - time < kept);
  };
  const agesOf = (times: number[], now: number) => times.map((time) => now - time);
  return {
    count(client) {
      const now = performance.now();
      const times = look(client, now);
      const isAllowed = readings(limits, agesOf(times, now)).every(({ remaining }) => remaining > 0);
      if (isAllowed) {
        times.push(now);
        clients.delete(client);
        clients.set(client, times);
      }
      return { isAllowed, ages: agesOf(times, now) };
    },
    peek(client) {
      const now = performance.now();
      return { isAllowed: true, ages: agesOf(look(client, now), now) };
    },
  };
}

const NOW_MS = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
const AGES = `ARRAY(SELECT (${NOW_MS} - t)::float8 FROM unnest(w.times) AS t ORDER BY t)`;
// Requests of one client queue up on its row, and the time is read once they have it: together they never get past a limit.
const COUNT = {
  name: "request-count",
  text: `
    INSERT INTO request_windows AS w (client, times) VALUES ($1, ARRAY[${NOW_MS}])
    ON CONFLICT (client) DO UPDATE SET (times, is_allowed) = (
      SELECT CASE WHEN fits THEN kept || at ELSE kept END, fits
      FROM (SELECT ${NOW_MS} AS at) AS now,
        LATERAL (SELECT ARRAY(SELECT t FROM unnest(w.times) AS t WHERE t > at - $4::int ORDER BY t) AS kept) AS counted,
        LATERAL (SELECT count(*) AS recent FROM unnest(kept) AS t WHERE t > at - ${BURST_MS}) AS burst,
        LATERAL (SELECT ($2::int = 0 OR recent < $2) AND ($3::int = 0 OR cardinality(kept) < $3) AS fits) AS verdict
    )
    RETURNING is_allowed, ${AGES} AS ages`,
};
const PEEK = { name: "request-peek", text: `SELECT ${AGES} AS ages FROM request_windows AS w WHERE client = $1` };
const TIDY = `DELETE FROM request_windows WHERE coalesce(times[cardinality(times)], 0) < ${NOW_MS} - ${MINUTE_MS}`;
const TIDY_EVERY_MS = 300_000;

/** Counts in the database, for all web processes together. What this one knows to be refused it refuses without asking again. */
function counterShared(limits: Limits, pool: Pool): Counter {
  const refused = new Map<string, { until: number; at: number; ages: number[] }>();
  const tidy = () => pool.query(TIDY).catch((err: unknown) => log.debug({ err }, "counts of requests were not tidied"));
  setInterval(tidy, TIDY_EVERY_MS).unref();

  const stillRefused = (client: string): number[] | undefined => {
    const now = performance.now();
    for (const [name, { until }] of refused) {
      if (now < until) break;
      refused.delete(name);
    }
    const known = refused.get(client);
    return known && now < known.until ? known.ages.map((age) => age + now - known.at) : undefined;
  };
  return {
    async count(client) {
      const known = stillRefused(client);
      if (known) return { isAllowed: false, ages: known };
      const { rows } = await pool.query<{ is_allowed: boolean; ages: number[] }>({
        ...COUNT,
        values: [client, limits.burst, limits.minute, keptMs(limits)],
      });
      const { is_allowed: isAllowed = true, ages = [] } = rows[0] ?? {};
      if (!isAllowed) {
        const at = performance.now();
        refused.delete(client);
        refused.set(client, { until: at + waitFor(readings(limits, ages)), at, ages });
      }
      return { isAllowed, ages };
    },
    async peek(client) {
      const known = stillRefused(client);
      if (known) return { isAllowed: true, ages: known };
      const { rows } = await pool.query<{ ages: number[] }>({ ...PEEK, values: [client] });
      return { isAllowed: true, ages: rows[0]?.ages ?? [] };
    },
  };
}

/**
 * The two windows that each client has, both sliding: whichever 5 seconds or minute one takes, no more than the limit was
 * let in. What was refused is not counted.
 * @param perMinute requests a minute; 0 turns the window off
 * @param burst requests in 5 seconds; 0 turns the window off
 * @param pool where several web processes count together; left out, and while it does not answer, this process counts alone
 */
export function createRateLimit(perMinute: number, burst: number, pool?: Pool): RateLimit {
  const limits = { burst, minute: perMinute };
  const here = counterHere(limits);
  const shared = pool && counterShared(limits, pool);
  let awayUntil = 0;

  /** Asks the shared count, or our own while that is away: a limit is no reason to answer nothing. */
  async function ask(question: (counter: Counter) => Promise<Counted> | Counted): Promise<Verdict> {
    if (!burst && !perMinute) return verdict(limits, { isAllowed: true, ages: [] });
    if (!shared || Date.now() < awayUntil) return verdict(limits, await question(here));
    try {
      return verdict(limits, await question(shared));
    } catch (err) {
      log.warn({ err }, "requests cannot be counted in the database, this process counts alone for now");
      awayUntil = Date.now() + AWAY_MS;
      return verdict(limits, await question(here));
    }
  }

  return {
    count: (client) => ask((counter) => counter.count(client)),
    peek: (client) => ask((counter) => counter.peek(client)),
  };
}
