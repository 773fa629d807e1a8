import type { User } from "#prisma/generated/client.ts";
import { hasOwner, insertFirstProject } from "#server/features/identity/first-owner.ts";
import { insertAccount, resetAccount } from "#server/features/identity/new-account.ts";
import { checkSecondFactor } from "#server/features/security/second-factor.ts";
import { countPasswordTry, forgetPasswordTries } from "#server/platform/auth/limits.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { hashPassword, isPassword } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

let nobody: Promise<string> | undefined;

/**
 * The user with this address and password, with the mark of that password, or null. An unknown address takes as long as a wrong password.
 * @param address of the client, for the throttle
 * @param code of the authenticator app, or a recovery code
 * @throws CodeNeeded where the account asks for a code as well; AppError RATE_LIMIT_EXCEEDED after too many tries, VALIDATION_ERROR for a
 *   code that is not right
 */
export async function signInWithPassword(
  email: string,
  password: string,
  address: string,
  code = "",
): Promise<{ id: string; email: string; name: string; password_mark: string } | null> {
  await countPasswordTry(email, address);
  const user = await db().user.findUnique({ where: { email: email.toLowerCase() } });
  nobody ??= hashPassword("the password of nobody");
  const isRight = await isPassword(user?.password_hash ?? (await nobody), password);
  if (!user?.password_hash || !isRight) return null;
  // Before the address becomes a known one: the password alone does not make it that.
  await checkSecondFactor(user, code.trim(), address);
  await forgetPasswordTries(email, address);
  return { id: user.id, email: user.email, name: user.name, password_mark: passwordMark(user.password_hash) };
}

const isAscii = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);

/**
 * The user for an address that a sign-in provider vouches for. A new address gets an account when it was invited
 * somewhere (whether to join is asked in the app), or where anybody may sign up; otherwise null. An account that nobody had
 * proven to be the address's own loses its password, its other sessions and its keys: somebody else may have made it.
 */
export async function signInWithProvider({ email: given, name }: { email: string; name: string }): Promise<User | null> {
  const email = given.toLowerCase();
  // In lower case the sign of the kelvin is a plain k: such an address is somebody else's.
  if (isAscii(email) && !isAscii(given)) return null;
  return db().$transaction(async (tx) => {
    const user = await tx.user.findUnique({ where: { email } });
    if (user?.service_project_id) return null;
    if (user) return user.email_verified_at ? user : resetAccount(tx, user, { password_hash: null, is_verified: true });
    const isInvited = (await tx.invitation.findFirst({ where: { email, accepted_at: null, expires_at: { gt: new Date() } } })) !== null;
    if (!(isInvited || settings().ALLOW_SIGNUP) || !(await hasOwner(tx))) return null;
    const created = await insertAccount(tx, { email, name, password_hash: null, made_through: "provider", is_verified: true });
    if (!isInvited) await insertFirstProject(tx, created);
    return created;
  });
}
