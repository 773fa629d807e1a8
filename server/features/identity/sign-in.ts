import type { User } from "#prisma/generated/client.ts";
import { hasOwner, insertFirstProject } from "#server/features/identity/first-owner.ts";
import { insertAccount, resetAccount } from "#server/features/identity/new-account.ts";
import { countPasswordTry, forgetPasswordTries } from "#server/platform/auth/limits.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { hashPassword, isPassword } from "#server/platform/secrets.ts";
import { settings } from "#server/platform/settings.ts";

/** How long a cookie is good for, in seconds; each page that is opened begins it anew. */
export const SESSION_SECONDS = 30 * 24 * 60 * 60;

/** Ends a browser session on the server, so that a copy of its cookie opens nothing any more. Remembered until every such copy has run out. */
export async function endSession(sid: unknown): Promise<void> {
  if (typeof sid !== "string" || !isUuid(sid)) return;
  const ended = { id: sid, expires_at: new Date(Date.now() + SESSION_SECONDS * 1000) };
  await db().endedSession.createMany({ data: [ended], skipDuplicates: true });
}

/** Forgets ended sessions whose cookies have all run out. */
export async function tidySessions(): Promise<void> {
  await db().endedSession.deleteMany({ where: { expires_at: { lt: new Date() } } });
}

let nobody: Promise<string> | undefined;

/**
 * The user with this address and password, with the mark of that password, or null. An unknown address takes as long as a wrong password.
 * @param address of the client, for the throttle
 * @throws AppError RATE_LIMIT_EXCEEDED after too many tries
 */
export async function signInWithPassword(
  email: string,
  password: string,
  address: string,
): Promise<{ id: string; email: string; name: string; password_mark: string } | null> {
  await countPasswordTry(email, address);
  const user = await db().user.findUnique({ where: { email: email.toLowerCase() } });
  nobody ??= hashPassword("the password of nobody");
  const isRight = await isPassword(user?.password_hash ?? (await nobody), password);
  if (!user?.password_hash || !isRight) return null;
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
    if (user) return user.email_verified_at ? user : resetAccount(tx, user, { password_hash: null, is_verified: true });
    const isInvited = (await tx.invitation.findFirst({ where: { email, accepted_at: null, expires_at: { gt: new Date() } } })) !== null;
    if (!(isInvited || settings().ALLOW_SIGNUP) || !(await hasOwner(tx))) return null;
    const created = await insertAccount(tx, { email, name, password_hash: null, made_through: "provider", is_verified: true });
    if (!isInvited) await insertFirstProject(tx, created);
    return created;
  });
}
