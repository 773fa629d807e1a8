import { RateLimiterPostgres, RateLimiterRes } from "rate-limiter-flexible";
import { pool } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { budgetOf } from "#server/platform/net/client-address.ts";
import { sha256 } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

const HOUR = 60 * 60;
/** Whoever asks for it, nobody gets more mails of one kind in an hour: a project is made in a moment, and its mails go to anybody. */
const MAILS_TO_ONE = 5;

/**
 * Counts an account that is about to be made by sign-up.
 * @param address of the client
 * @throws AppError RATE_LIMIT_EXCEEDED beyond the setting ACCOUNTS_PER_HOUR
 */
export async function countNewAccount(address: string): Promise<void> {
  const { ACCOUNTS_PER_HOUR } = settings();
  if (ACCOUNTS_PER_HOUR > 0)
    await consume(limiterOf("accounts", ACCOUNTS_PER_HOUR, HOUR), keyOf(budgetOf(address)), "accounts from your address");
}

/**
 * Counts an invitation that is about to be made.
 * @throws AppError RATE_LIMIT_EXCEEDED beyond the setting INVITATIONS_PER_HOUR
 */
export async function countInvitation(user_id: string): Promise<void> {
  const { INVITATIONS_PER_HOUR } = settings();
  if (INVITATIONS_PER_HOUR > 0) await consume(limiterOf("invitations", INVITATIONS_PER_HOUR, HOUR), keyOf(user_id), "invitations");
}

/**
 * Counts a message to the assistant: whoever may only read can still have it spend the project's money.
 * @throws AppError RATE_LIMIT_EXCEEDED beyond the setting ASSISTANT_MESSAGES_PER_HOUR
 */
export async function countMessage(user_id: string): Promise<void> {
  const { ASSISTANT_MESSAGES_PER_HOUR: most } = settings();
  if (most > 0) await consume(limiterOf("assistant-messages", most, HOUR), keyOf(user_id), "messages to the assistant");
}

/** Asking for a link that sets a new password, from one client address in an hour. */
const RESETS_OF_ADDRESS = 20;

/**
 * Counts that somebody asks for a link by mail that sets a new password, whether the address has an account or not.
 * @param address of the client
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export const countResetRequest = (address: string): Promise<void> =>
  consume(limiterOf("password-resets", RESETS_OF_ADDRESS, HOUR), keyOf(budgetOf(address)), "requests for a new password");

/** Whether an address that somebody names may be sent one more mail of the kind within this hour; if so, it is counted. */
export function mayMail(kind: "invitation" | "password-reset", email: string): Promise<boolean> {
  return isWithin(limiterOf(`${kind}-mails`, MAILS_TO_ONE, HOUR), keyOf(email.toLowerCase()));
}

/**
 * Returns true for the first use of a value, over all processes; of concurrent calls, for one only.
 * @param seconds how long its use is remembered
 */
export const isFirstUse = (kind: "oauth-state", value: string, seconds: number): Promise<boolean> =>
  isWithin(limiterOf(kind, 1, seconds), keyOf(value));

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

/** Counts one more; false beyond the limit. */
async function isWithin(limiter: RateLimiterPostgres, key: string): Promise<boolean> {
  try {
    await limiter.consume(key);
    return true;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return false;
    throw refused;
  }
}

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

const MINUTE = 60;
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
/** Codes that somebody gives who is signed in and has given the password again: as few in a day as at sign-in. */
const codesOfUser = () => limiterOf("own-code", 40, DAY);

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

// Whoever gives a code has given the right password before. Six digits are few, so the account has few tries from everywhere
// together; as with passwords, those do not count where its owner has signed in lately, and nobody is locked out by others. That
// was with a code: an address from which the password alone came, before there was a second factor or in another way, is nobody's.
const codesOfBoth = () => limiterOf("code", 5, 15 * MINUTE);
const codesOfAccount = () => [limiterOf("code-hour", 15, HOUR), limiterOf("code-day", 40, DAY)];
const knownWithCode = () => limiterOf("code-known", 1, 90 * DAY);
/** Recovery codes are too long to be guessed, and are there for whom others have used up the tries. */
const recoveriesOfBoth = () => limiterOf("recovery", 10, 15 * MINUTE);

/**
 * Counts one code that is given at sign-in, before it is checked.
 * @param isRecovery whether it is one of the long ones
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export async function countCodeTry(email: string, address: string, isRecovery: boolean): Promise<void> {
  const { account, both } = keysOf(email, address);
  if (isRecovery) return consume(recoveriesOfBoth(), both, "codes");
  await consume(codesOfBoth(), both, "codes");
  if (await knownWithCode().get(both)) return;
  for (const limiter of codesOfAccount()) await consume(limiter, account, "codes");
}

/** A right code takes back what its tries have counted, and makes the address a known one of the account for 90 days. */
export async function forgetCodeTries(email: string, address: string): Promise<void> {
  const { account, both } = keysOf(email, address);
  await codesOfBoth().delete(both);
  await recoveriesOfBoth().delete(both);
  if (!(await knownWithCode().get(both))) for (const limiter of codesOfAccount()) await limiter.reward(account);
  await knownWithCode().set(both, 1, 90 * DAY);
}

/**
 * Counts one try of a password that somebody gives again for what concerns the account itself. Others' tries do not count.
 * @param purpose what it is given for: `change`, `delete`, `earlier`, `second-factor`
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export const countOwnPasswordTry = (user_id: string, purpose: string): Promise<void> => consume(ofUser(), keyOf(purpose, user_id), "tries");

/**
 * Counts one code that is given for what concerns the account itself, before it is checked. A right password takes none back, or six
 * digits could be tried for as long as one likes.
 * @throws AppError RATE_LIMIT_EXCEEDED
 */
export const countOwnCodeTry = (user_id: string): Promise<void> => consume(codesOfUser(), keyOf(user_id), "codes");

/** A right code takes back what its tries have counted. */
export async function forgetOwnCodeTries(user_id: string): Promise<void> {
  await codesOfUser().delete(keyOf(user_id));
}

/** A right password takes back what its tries have counted. */
export async function forgetOwnPasswordTries(user_id: string, purpose: string): Promise<void> {
  await ofUser().delete(keyOf(purpose, user_id));
}
