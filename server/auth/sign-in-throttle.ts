import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { AppError } from "#server/errors.ts";

const WINDOW_SECONDS = 15 * 60;

// Ten tries for one account from one address, so that nobody else locks a person out; a hundred from an address for
// whatever accounts, so that one password is not tried on all of them.
const perAccount = new RateLimiterMemory({ keyPrefix: "account", points: 10, duration: WINDOW_SECONDS });
const perAddress = new RateLimiterMemory({ keyPrefix: "address", points: 100, duration: WINDOW_SECONDS });

const accountKey = (email: string, address: string) => `${email.toLowerCase()} ${address}`;

/**
 * Counts one try of a password, before it is checked: of many tries at once none slips through.
 * @param address of the client
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countPasswordTry(email: string, address: string): Promise<void> {
  try {
    await perAddress.consume(address);
    await perAccount.consume(accountKey(email, address));
  } catch (refused) {
    if (!(refused instanceof RateLimiterRes)) throw refused;
    const minutes = Math.ceil(refused.msBeforeNext / 60_000);
    throw new AppError("RATE_LIMIT_EXCEEDED", `Too many tries. Wait ${minutes === 1 ? "a minute" : `${minutes} minutes`} and try again.`, {
      retryAfter: refused.msBeforeNext / 1000,
    });
  }
}

/** A right password takes back what its tries have counted. */
export async function forgetPasswordTries(email: string, address: string): Promise<void> {
  await perAccount.delete(accountKey(email, address));
  await perAddress.reward(address);
}
