import type { User } from "#prisma/generated/client.ts";
import { db } from "#server/db/client.ts";
import { insertAccount } from "#server/services/identity/insert-account.ts";
import { hasOwner, insertFirstProject } from "#server/services/identity/insert-first-owner.ts";
import { resetAccount } from "#server/services/identity/reset-account.ts";
import { settings } from "#server/settings.ts";

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
