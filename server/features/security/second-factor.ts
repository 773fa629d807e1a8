import { randomBytes } from "node:crypto";
import type { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { mailAccount } from "#server/features/security/account-mail.ts";
import type {
  BeginSecondFactorInput,
  BegunSecondFactor,
  ConfirmSecondFactorInput,
  ProveSecondFactorInput,
  RecoveryCodes,
  SignInSafety,
} from "#server/features/security/schema.ts";
import { base32, stepOfCode, totpUri } from "#server/features/security/totp.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import {
  countCodeTry,
  countOwnCodeTry,
  countOwnPasswordTry,
  forgetCodeTries,
  forgetOwnCodeTries,
  forgetOwnPasswordTries,
} from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { isPassword, keyedHash, seal, unseal } from "#server/platform/secrets.ts";
import { appUrl } from "#server/platform/settings.ts";

// What is asked for at sign-in beside the password: server/decisions/0035.

/** As RFC 4226 recommends. */
const SECRET_BYTES = 20;
const RECOVERY_CODES = 10;
/** 60 bits each. */
const RECOVERY_LENGTH = 12;

/** The password was right, and the account asks for a code as well. */
export class CodeNeeded extends Error {}

type Account = Principal["user"];

const wrongCode = () =>
  invalidField(
    "code",
    "This code is not right, or has been used. Wait for the next one of your authenticator app, or give a recovery code.",
  );
const account = ({ id, email }: Account) => ({ resource_type: "account", resource_id: id, resource_name: email }) as const;

const hashOf = (user_id: string, code: string): string => keyedHash(`recovery ${user_id} ${code}`);
/** A code as it was typed; a recovery code may have dashes, spaces and capitals. */
const plain = (code: string): string => code.replace(/[\s-]/g, "").toLowerCase();
const isRecovery = (code: string): boolean => plain(code).length > 6;

function newRecoveryCodes(): string[] {
  return Array.from({ length: RECOVERY_CODES }, () => {
    const code = base32(randomBytes(8)).slice(0, RECOVERY_LENGTH).toLowerCase();
    return code.match(/.{4}/g)?.join("-") ?? code;
  });
}

async function setRecoveryCodes(tx: Prisma.TransactionClient, user_id: string): Promise<string[]> {
  const codes = newRecoveryCodes();
  await tx.recoveryCode.deleteMany({ where: { user_id } });
  await tx.recoveryCode.createMany({ data: codes.map((code) => ({ user_id, code_hash: hashOf(user_id, plain(code)) })) });
  return codes;
}

/**
 * Takes a code: each is good once, also for two who give the same at once.
 * @param code plain
 */
async function takeCode(user_id: string, sealed_secret: string, code: string, now: Date): Promise<"totp" | "recovery" | null> {
  if (isRecovery(code)) {
    const where = { user_id, code_hash: hashOf(user_id, code), used_at: null };
    return (await db().recoveryCode.updateMany({ where, data: { used_at: now } })).count === 1 ? "recovery" : null;
  }
  const step = stepOfCode(Buffer.from(unseal(sealed_secret), "base64url"), code, now);
  if (step === undefined) return null;
  const where = { user_id, sealed_secret, last_step: { lt: step } };
  return (await db().secondFactor.updateMany({ where, data: { last_step: step } })).count === 1 ? "totp" : null;
}

const confirmedFactor = (user_id: string) => db().secondFactor.findFirst({ where: { user_id, confirmed_at: { not: null } } });

/** A recovery code is used when the app is lost, or by whoever has found the codes: the person should know. */
async function tellRecovery(user: Account): Promise<void> {
  const left = await db().recoveryCode.count({ where: { user_id: user.id, used_at: null } });
  await db().$transaction((tx) =>
    recordAuditEverywhere(
      tx,
      { user, auth: { type: "session" } },
      { action: "account.use_recovery_code", ...account(user), detail: { left } },
    ),
  );
  mailAccount(user.email, {
    subject: "A recovery code of your Treadle account was used",
    title: "A recovery code was used to sign in",
    paragraphs: [
      `${left} of your recovery codes are left. If that was not you, set another password and make new codes now.`,
      `${appUrl()}/settings/security`,
    ],
  });
}

/**
 * Checks the code of somebody who has just given the right password.
 * @param code empty when none was given yet
 * @param address of the client, for the throttle
 * @throws CodeNeeded when one is asked for; AppError VALIDATION_ERROR for a wrong one, RATE_LIMIT_EXCEEDED after too many
 */
export async function checkSecondFactor(user: Account, code: string, address: string): Promise<void> {
  const factor = await confirmedFactor(user.id);
  if (!factor) return;
  if (!code) throw new CodeNeeded();
  await countCodeTry(user.email, address, isRecovery(code));
  const way = await takeCode(user.id, factor.sealed_secret, plain(code), new Date());
  if (!way) throw wrongCode();
  await forgetCodeTries(user.email, address);
  if (way === "recovery") await tellRecovery(user);
}

/** How the caller signs in. */
export async function getSignInSafety({ user }: Principal): Promise<z.infer<typeof SignInSafety>> {
  const [{ password_hash }, factor, recovery_codes_left] = await Promise.all([
    db().user.findUniqueOrThrow({ where: { id: user.id }, select: { password_hash: true } }),
    confirmedFactor(user.id),
    db().recoveryCode.count({ where: { user_id: user.id, used_at: null } }),
  ]);
  return {
    has_password: password_hash !== null,
    second_factor: factor?.confirmed_at ? { since: factor.confirmed_at.toISOString(), recovery_codes_left } : null,
  };
}

async function assertOwnPassword({ id }: Account, password: string): Promise<void> {
  const { password_hash } = await db().user.findUniqueOrThrow({ where: { id }, select: { password_hash: true } });
  if (!password_hash)
    throw new AppError("CONFLICT", "This account has no password: it signs in through another service, which asks for its own codes.");
  await countOwnPasswordTry(id, "second-factor");
  if (!(await isPassword(password_hash, password))) throw invalidField("password", "This is not your password.");
}

/** That it is the owner of the account who asks, with the password and a code; the code is used up by it. */
async function assertOwner(user: Account, { password, code }: z.infer<typeof ProveSecondFactorInput>): Promise<void> {
  await assertOwnPassword(user, password);
  const factor = await confirmedFactor(user.id);
  if (!factor) throw new AppError("CONFLICT", "Two-factor authentication is not on.");
  await countOwnCodeTry(user.id);
  if (!(await takeCode(user.id, factor.sealed_secret, plain(code), new Date()))) throw wrongCode();
  await forgetOwnCodeTries(user.id);
  await forgetOwnPasswordTries(user.id, "second-factor");
}

/**
 * Makes a secret for an authenticator app. Nothing is asked for at sign-in until a code of it was given; one that was begun before
 * is forgotten.
 * @throws AppError VALIDATION_ERROR for a wrong password; CONFLICT for an account without one, and when a second factor is on;
 *   RATE_LIMIT_EXCEEDED after too many passwords
 */
export async function beginSecondFactor(
  { user }: Principal,
  { password }: z.infer<typeof BeginSecondFactorInput>,
): Promise<z.infer<typeof BegunSecondFactor>> {
  await assertOwnPassword(user, password);
  await forgetOwnPasswordTries(user.id, "second-factor");
  const bytes = randomBytes(SECRET_BYTES);
  const sealed_secret = seal(bytes.toString("base64url"));
  await db().$transaction(async (tx) => {
    await tx.secondFactor.deleteMany({ where: { user_id: user.id, confirmed_at: null } });
    const { count } = await tx.secondFactor.createMany({ data: [{ user_id: user.id, sealed_secret }], skipDuplicates: true });
    if (count === 0) throw new AppError("CONFLICT", "Two-factor authentication is already on. Turn it off first.");
  });
  const secret = base32(bytes);
  return { secret, uri: totpUri(secret, user.email, `Treadle (${new URL(appUrl()).host})`) };
}

/**
 * Turns the second factor on with a first code of it.
 * @throws AppError VALIDATION_ERROR for a wrong code; CONFLICT when none was begun
 */
export async function confirmSecondFactor(
  principal: Principal,
  { code }: z.infer<typeof ConfirmSecondFactorInput>,
): Promise<z.infer<typeof RecoveryCodes>> {
  const { user } = principal;
  const now = new Date();
  const begun = await db().secondFactor.findFirst({ where: { user_id: user.id, confirmed_at: null } });
  if (!begun) throw new AppError("CONFLICT", "Nothing waits to be turned on. Begin again.");
  const step = stepOfCode(Buffer.from(unseal(begun.sealed_secret), "base64url"), plain(code), now);
  if (step === undefined)
    throw invalidField("code", "This code is not right. Is the clock of your device right? Then wait for the next code and try again.");
  const recovery_codes = await db().$transaction(async (tx) => {
    // Not one that was begun anew meanwhile, whose secret is another.
    const where = { user_id: user.id, sealed_secret: begun.sealed_secret, confirmed_at: null };
    const { count } = await tx.secondFactor.updateMany({ where, data: { confirmed_at: now, last_step: step } });
    if (count === 0) throw new AppError("CONFLICT", "This has been turned on, or begun anew, in another window. Begin again.");
    await recordAuditEverywhere(tx, principal, { action: "account.turn_on_second_factor", ...account(user) });
    return setRecoveryCodes(tx, user.id);
  });
  return { recovery_codes };
}

/** Makes new recovery codes; the old ones are good for nothing any more. @throws AppError VALIDATION_ERROR, RATE_LIMIT_EXCEEDED */
export async function renewRecoveryCodes(
  principal: Principal,
  proof: z.infer<typeof ProveSecondFactorInput>,
): Promise<z.infer<typeof RecoveryCodes>> {
  const { user } = principal;
  await assertOwner(user, proof);
  const recovery_codes = await db().$transaction(async (tx) => {
    await recordAuditEverywhere(tx, principal, { action: "account.renew_recovery_codes", ...account(user) });
    return setRecoveryCodes(tx, user.id);
  });
  return { recovery_codes };
}

/** Forgets the second factor of an account, one that was only begun too. @returns whether one was on */
export async function dropSecondFactor(tx: Prisma.TransactionClient, user_id: string): Promise<boolean> {
  await tx.recoveryCode.deleteMany({ where: { user_id } });
  const factors = await tx.secondFactor.findMany({ where: { user_id }, select: { confirmed_at: true } });
  await tx.secondFactor.deleteMany({ where: { user_id } });
  return factors.some(({ confirmed_at }) => confirmed_at !== null);
}

/** Turns the caller's second factor off. @throws AppError VALIDATION_ERROR for a wrong password or code, RATE_LIMIT_EXCEEDED */
export async function turnOffSecondFactor(principal: Principal, proof: z.infer<typeof ProveSecondFactorInput>): Promise<void> {
  const { user } = principal;
  await assertOwner(user, proof);
  await db().$transaction(async (tx) => {
    await dropSecondFactor(tx, user.id);
    await recordAuditEverywhere(tx, principal, { action: "account.turn_off_second_factor", ...account(user) });
  });
  mailAccount(user.email, {
    subject: "Two-factor authentication of your Treadle account is off",
    title: "Two-factor authentication is off",
    paragraphs: ["Signing in takes your password alone now. If that was not you, set another password."],
  });
}
