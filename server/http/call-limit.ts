import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "#server/platform/errors.ts";
import { budgetOf } from "#server/platform/net/client-address.ts";
import type { ApiContext } from "#server/platform/rpc/trpc.ts";
import { settings } from "#server/platform/settings.ts";

/** Of the setting RATE_LIMIT_WEB, which is for one address: what one person may call, and an address where nobody is signed in. */
const PERSON_SHARE = 0.4;
const STRANGER_SHARE = 0.1;

const limiters = new Map<number, RateLimiterMemory>();

function limiterOf(points: number): RateLimiterMemory {
  let limiter = limiters.get(points);
  if (!limiter) {
    limiter = new RateLimiterMemory({ points, duration: 60 });
    limiters.set(points, limiter);
  }
  return limiter;
}

/**
 * Counts calls of the web app, each of those that come together. All sessions of a person count as one; each process counts
 * its own.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countCalls({ principal, address }: ApiContext, calls: number): Promise<void> {
  const { RATE_LIMIT_WEB } = settings();
  if (RATE_LIMIT_WEB === 0) return;
  const points = Math.ceil(RATE_LIMIT_WEB * (principal ? PERSON_SHARE : STRANGER_SHARE));
  try {
    await limiterOf(points).consume(principal ? `person ${principal.user.id}` : `address ${budgetOf(address)}`, calls);
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const retryAfter = Math.max(1, Math.ceil(refused.msBeforeNext / 1000));
    throw new AppError("RATE_LIMIT_EXCEEDED", `That is more than a person asks for. Wait ${retryAfter} seconds and try again.`, {
      retryAfter,
    });
  }
}
