import { consume, keyOf, limiterOf } from "#server/auth/limits.ts";
import { budgetOf } from "#server/net/client-address.ts";

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

// Ten tries for one account from one address, and a hundred from an address for whatever accounts, so that one password is
// not tried on all of them. From everywhere together an account has few enough that no list of passwords gets far. These
// others can use up, so they do not count where the account's owner has signed in lately: nobody locks a person out.
const ofBoth = () => limiterOf("sign-in", 10, 15 * MINUTE);
const ofAddress = () => limiterOf("sign-in-address", 100, 15 * MINUTE);
const ofAccount = () => [limiterOf("sign-in-hour", 50, HOUR), limiterOf("sign-in-day", 200, DAY)];
const known = () => limiterOf("sign-in-known", 1, 90 * DAY);
/** Passwords that somebody who is known already gives again. */
const ofUser = () => limiterOf("password", 10, 15 * MINUTE);

const keysOf = (email: string, address: string) => {
  const [account, client] = [keyOf(email.toLowerCase()), keyOf(budgetOf(address))];
  return { account, client, both: keyOf(account, client) };
};

/**
 * Counts one try to sign in, before the password is checked. An address without an account is counted alike.
 * @param address of the client
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countPasswordTry(email: string, address: string): Promise<void> {
  const { account, client, both } = keysOf(email, address);
  await consume(ofAddress(), client, "tries");
  await consume(ofBoth(), both, "tries");
  if (await known().get(both)) return;
  for (const limiter of ofAccount()) await consume(limiter, account, "tries");
}

/** A right password takes back what its tries have counted, and makes the address a known one of the account for 90 days. */
export async function forgetPasswordTries(email: string, address: string): Promise<void> {
  const { account, client, both } = keysOf(email, address);
  await ofBoth().delete(both);
  await ofAddress().reward(client);
  if (!(await known().get(both))) for (const limiter of ofAccount()) await limiter.reward(account);
  await known().set(both, 1, 90 * DAY);
}

/**
 * Counts one try of a password that somebody gives again for what concerns the account itself. Others' tries do not count.
 * @param purpose what it is given for: `change`, `delete`, `invitation`
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export const countOwnPasswordTry = (user_id: string, purpose: string): Promise<void> => consume(ofUser(), keyOf(purpose, user_id), "tries");

/** A right password takes back what its tries have counted. */
export async function forgetOwnPasswordTries(user_id: string, purpose: string): Promise<void> {
  await ofUser().delete(keyOf(purpose, user_id));
}
