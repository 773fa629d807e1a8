import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import { type FoundInvitation, findInvitation, invitationUsed } from "#server/features/identity/invitations.ts";
import { insertAccount, resetAccount, signedUp } from "#server/features/identity/new-account.ts";
import type { AcceptInvitationInput, SignedUp } from "#server/features/identity/schema.ts";
import { joinProject } from "#server/features/projects/members.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { countOwnPasswordTry, countPasswordTry, forgetOwnPasswordTries, forgetPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { hashPassword, isPassword } from "#server/platform/secrets.ts";

/** How the account that joins comes about, once everything that takes time is done. */
type Joining = (tx: Prisma.TransactionClient) => Promise<User>;

function required<Value>(value: Value | undefined, path: string, message: string): Value {
  if (value === undefined) throw invalidField(path, message);
  return value;
}

/** Holds the account for the rest of the transaction. @throws AppError CONFLICT when it is not what it was when it was looked at */
async function held(tx: Prisma.TransactionClient, { id, password_hash, email_verified_at }: User): Promise<User> {
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${id}::uuid FOR UPDATE`;
  const user = await tx.user.findUniqueOrThrow({ where: { id } });
  if (user.password_hash !== password_hash || user.email_verified_at?.getTime() !== email_verified_at?.getTime())
    throw new AppError("CONFLICT", "The account has changed just now: open the link again.");
  return user;
}

/** The account as it is; whoever shows that they have both it and the mail of its address has verified that. */
const asItIs =
  (user: User, isMailed: boolean): Joining =>
  async (tx) => {
    const now = await held(tx, user);
    if (!isMailed || now.email_verified_at) return now;
    return tx.user.update({ where: { id: now.id }, data: { email_verified_at: new Date() } });
  };

/**
 * Whether it is the account's password. Where the address is verified, whoever has the link could guess on, so tries are those of
 * the sign-in; else a wrong one becomes the new one, and what strangers try at the sign-in must not be in its way.
 */
async function isRightPassword({ id, email, password_hash, email_verified_at }: User, password: string, address: string): Promise<boolean> {
  await (email_verified_at ? countPasswordTry(email, address) : countOwnPasswordTry(id, "invitation"));
  if (!password_hash || !(await isPassword(password_hash, password))) return false;
  await (email_verified_at ? forgetPasswordTries(email, address) : forgetOwnPasswordTries(id, "invitation"));
  return true;
}

/** Joins with the account that the address has: with its password, or else with a new one where nobody has verified the address. */
async function withPassword(
  user: User,
  invitation: FoundInvitation,
  given: { name?: string; password: string },
  address: string,
): Promise<Joining> {
  const { way, project_id } = invitation;
  if (await isRightPassword(user, given.password, address)) return asItIs(user, way === "mailed");
  // Install admins are known to those who named them.
  if (user.email_verified_at || user.is_install_admin)
    throw invalidField(
      "password",
      "This address has an account already: give the password of that account, or sign in and open the link again.",
    );
  const to = { password_hash: await hashPassword(given.password), ...(given.name !== undefined && { name: given.name }) };
  return async (tx) =>
    resetAccount(tx, await held(tx, user), way === "mailed" ? { ...to, is_verified: true } : { ...to, is_verified: false, project_id });
}

async function joiningOf(
  invitation: FoundInvitation,
  { name, password }: Omit<z.infer<typeof AcceptInvitationInput>, "token">,
  principal: Principal | null,
  address: string,
): Promise<Joining> {
  const { email, way, invited_by_id: made_by_id } = invitation;
  const user = await db().user.findUnique({ where: { email } });
  if (user && principal?.auth.type === "session" && principal.user.id === user.id) return asItIs(user, way === "mailed");
  const given = required(password, "password", user ? "Give a password, or sign in first." : "Choose a password for your account.");
  if (user) return withPassword(user, invitation, { ...(name !== undefined && { name }), password: given }, address);
  const account = { email, name: required(name, "name", "Give your name."), password_hash: await hashPassword(given) };
  return (tx) => insertAccount(tx, { ...account, made_through: "invitation", made_by_id, is_verified: way === "mailed" });
}

/** Marks the invitation as used. Of two who accept at once, the second is refused here. */
async function use(tx: Prisma.TransactionClient, invitationId: string): Promise<void> {
  const { count } = await tx.invitation.updateMany({ where: { id: invitationId, accepted_at: null }, data: { accepted_at: new Date() } });
  if (count === 0) throw invitationUsed();
}

/**
 * Makes whoever has the link a member of the project: with a new account, or with the one that the address has, by the browser's
 * session or by its password. Where nobody has verified the address, any other password becomes the account's new one, which
 * ends its sessions and API keys; a link that was handed over then leads into this project alone (server/decisions/0021).
 * @param address of the client, for the throttle
 * @throws AppError NOT_FOUND for an unknown or expired invitation, CONFLICT for a used one, VALIDATION_ERROR when the
 *   address has a verified account and the password is not its own, RATE_LIMIT_EXCEEDED after too many passwords
 */
export async function acceptInvitation(
  { token, ...given }: z.infer<typeof AcceptInvitationInput>,
  principal: Principal | null,
  address = "unknown",
): Promise<z.infer<typeof SignedUp>> {
  const invitation = await findInvitation(token, principal);
  const { id, email, project, role } = invitation;
  const joining = await joiningOf(invitation, given, principal, address);
  return db().$transaction(async (tx) => {
    await use(tx, id);
    const user = await joining(tx);
    await joinProject(tx, { project_id: project.id, user_id: user.id, role });
    const resource = { resource_type: "member", resource_id: user.id, resource_name: email };
    await recordAudit({ user, auth: { type: "session" }, project }, { action: "member.join", ...resource, detail: { role } }, tx);
    return signedUp(user);
  });
}
