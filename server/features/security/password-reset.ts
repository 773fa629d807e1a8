import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { mailAccount } from "#server/features/security/account-mail.ts";
import { PROOF_OPTIONS, provenAddress } from "#server/features/security/proven-address.ts";
import type {
  PasswordLink,
  PasswordReset,
  PasswordResetInput,
  RequestPasswordResetInput,
  ResetPasswordInput,
} from "#server/features/security/schema.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import { countResetRequest, mayMail } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { endSessions } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { utc } from "#server/platform/mail/layout.ts";
import { isMailOn } from "#server/platform/mail/send-mail.ts";
import { hashPassword, randomToken, sha256 } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";

const VALID_MS = 60 * 60 * 1000;

/**
 * A link that sets the password of an account, once. Of those that an install admin makes, only the newest works. Mailed ones hold until
 * the password is set: anybody can ask for another, and `mayMail` bounds how many there are.
 */
async function newLink(
  tx: Prisma.TransactionClient,
  user_id: string,
  made_by_id: string | null,
): Promise<{ url: string; expires_at: Date }> {
  // One at a time for each account, so that no earlier one is missed.
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${user_id}::uuid FOR NO KEY UPDATE`;
  if (made_by_id !== null) await tx.passwordReset.deleteMany({ where: { user_id, made_by_id: { not: null } } });
  const token = randomToken();
  const expires_at = new Date(Date.now() + VALID_MS);
  await tx.passwordReset.create({ data: { user_id, token_hash: sha256(token), made_by_id, expires_at } });
  return { url: `${appUrl()}/reset-password/${token}`, expires_at };
}

async function mailLink(email: string): Promise<void> {
  const user = await db().user.findFirst({ where: { email: email.toLowerCase(), deleted_at: null, password_hash: { not: null } } });
  if (!user || !(await mayMail("password-reset", user.email))) return;
  const { url, expires_at } = await db().$transaction((tx) => newLink(tx, user.id, null));
  mailAccount(user.email, {
    subject: "A new password for your Treadle account",
    title: "Set a new password",
    link: { label: "Set a new password", url, expires_at },
    paragraphs: [
      `The link works once, until ${utc(expires_at)}.`,
      "A reset was requested for your address. If you didn't request this, ignore this email: your password stays the same.",
    ],
  });
}

/**
 * Sends a link that sets a new password to the address, if it has an account with a password. The answer is the same, and comes as
 * soon, where it has none.
 * @param address of the client, for the throttle
 * @throws AppError CONFLICT where no mail server is set, RATE_LIMIT_EXCEEDED after too many from one address
 */
export async function requestPasswordReset({ email }: z.infer<typeof RequestPasswordResetInput>, address: string): Promise<void> {
  if (!isMailOn()) throw new AppError("CONFLICT", "This install sends no mail. Ask an install admin for a link that sets a new password.");
  await countResetRequest(address);
  // Nobody waits for it, or how long it takes would tell who has an account.
  mailLink(email).catch((error: unknown) => log.warn({ err: error }, "a link for a new password could not be sent"));
}

async function findReset(token: string) {
  const where = { token_hash: sha256(token), expires_at: { gt: new Date() }, user: { deleted_at: null, service_project_id: null } };
  const found = await db().passwordReset.findFirst({ where, include: { user: true } });
  if (!found) throw unusable();
  return found;
}
const unusable = () => new AppError("NOT_FOUND", "This link is unknown, has expired or was used. Ask for a new one.");

/** Whose password a link sets. Changes nothing, since programs open the links of mails too. @throws AppError NOT_FOUND */
export async function getPasswordReset({ token }: z.infer<typeof PasswordResetInput>): Promise<z.infer<typeof PasswordReset>> {
  const { user, expires_at } = await findReset(token);
  return { email: user.email, expires_at: expires_at.toISOString() };
}

/**
 * Sets a new password by a link. Every session of the account ends, and every other such link. A mailed link proves the address: at the
 * first proof, what the account had before is put aside, its second factor with it; later a second factor stays.
 * @throws AppError NOT_FOUND for a link that is unknown, has expired or was used, also for the second of two at once
 */
export async function resetPassword({ token, password, end_api_keys }: z.infer<typeof ResetPasswordInput>): Promise<void> {
  const { id, user, made_by_id } = await findReset(token);
  const password_hash = await hashPassword(password);
  await db().$transaction(async (tx) => {
    const { count } = await tx.passwordReset.deleteMany({ where: { id } });
    if (count === 0) throw unusable();
    if (made_by_id === null) await provenAddress(tx, user.id, { by: "mailed_reset" });
    await tx.user.update({ where: { id: user.id }, data: { password_hash } });
    await endSessions(tx, user.id);
    await tx.passwordReset.deleteMany({ where: { user_id: user.id } });
    if (end_api_keys) await tx.platformKey.deleteMany({ where: { user_id: user.id } });
    const record = { action: "account.reset_password", resource_type: "account", resource_id: user.id, resource_name: user.email } as const;
    const detail = { link: made_by_id === null ? "mail" : "install admin", ...(end_api_keys && { api_keys: "ended" }) };
    await recordAuditEverywhere(tx, { user, auth: { type: "email" } }, { ...record, detail });
  }, PROOF_OPTIONS);
  tellPasswordChanged(user.email);
}

/** Tells the person by mail, where a mail server is set: it may have been somebody else. */
export const tellPasswordChanged = (email: string): void =>
  mailAccount(email, {
    subject: "The password of your Treadle account was changed",
    title: "Your password was changed",
    paragraphs: ["Every browser that was signed in is out. If that was not you, ask for a new password now, and tell an install admin."],
  });

/**
 * Makes a link for an install admin to hand over to a person; the admin's right was checked before. The person is told.
 * @throws AppError NOT_FOUND
 */
export async function makePasswordLink(principal: Principal, user_id: string): Promise<z.infer<typeof PasswordLink>> {
  const made = await db().$transaction(async (tx) => {
    const user = await tx.user.findFirst({ where: { id: user_id, deleted_at: null, service_project_id: null } });
    if (!user) throw new AppError("NOT_FOUND", "There is no such person.");
    const link = await newLink(tx, user.id, principal.user.id);
    const record = {
      action: "account.make_password_link",
      resource_type: "account",
      resource_id: user.id,
      resource_name: user.email,
    } as const;
    await recordAuditEverywhere(tx, principal, record, user.id);
    return { ...link, user };
  });
  mailAccount(made.user.email, {
    subject: "A link to set a new password for your Treadle account was made",
    title: "An install admin made a link to your account",
    paragraphs: [
      `${principal.user.email} made a link that sets a new password for your account, until ${utc(made.expires_at)}. They hand it over to you themselves.`,
      "If you did not ask for this, contact them.",
    ],
  });
  return { url: made.url, expires_at: made.expires_at.toISOString() };
}

/** Forgets links that have expired. */
export async function tidyPasswordResets(): Promise<void> {
  await db().passwordReset.deleteMany({ where: { expires_at: { lt: new Date() } } });
}
