import { RateLimiterRes } from "rate-limiter-flexible";
import { consume, keyOf, limiterOf } from "#server/auth/limits.ts";
import { budgetOf } from "#server/net/client-address.ts";
import { settings } from "#server/settings.ts";

const HOUR = 60 * 60;
/** Whoever invites, nobody gets more mails of it in an hour: a project is made in a moment, and its mails go to anybody. */
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

/** Whether an address that somebody names may be sent one more invitation by e-mail within this hour; if so, it is counted. */
export async function mayMailInvitation(email: string): Promise<boolean> {
  try {
    await limiterOf("invitation-mails", MAILS_TO_ONE, HOUR).consume(keyOf(email.toLowerCase()));
    return true;
  } catch (refused) {
    if (refused instanceof RateLimiterRes) return false;
    throw refused;
  }
}
