import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { MOST_CALLS } from "#server/shared/primitives-schema.ts";

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
