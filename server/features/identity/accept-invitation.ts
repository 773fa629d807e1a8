import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import { type FoundInvitation, findInvitation, invitationUsed } from "#server/features/identity/invitations.ts";
import { insertAccount, type NewAccount, signedUp } from "#server/features/identity/new-account.ts";
import type { AcceptInvitationInput, SignedUp } from "#server/features/identity/schema.ts";
import { joinProject } from "#server/features/projects/members.ts";
import { PROOF_OPTIONS, provenAddress } from "#server/features/security/proven-address.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isAppError } from "#server/platform/errors.ts";
import { hashPassword } from "#server/platform/secrets.ts";

type Given = Omit<z.infer<typeof AcceptInvitationInput>, "token">;

const signInRequired = (): AppError =>
  new AppError("AUTH_REQUIRED", "This address has an account. Sign in to that account in your browser, then accept the invitation.");

function required<Value>(value: Value | undefined, path: string, message: string): Value {
  if (value === undefined) throw invalidField(path, message);
  return value;
}

/** Returns the account to create for an address that has none. */
async function newAccountOf({ email, way, invited_by_id }: FoundInvitation, given: Given): Promise<NewAccount> {
  const password = required(given.password, "password", "Choose a password for your account.");
  const name = required(given.name, "name", "Enter your name.");
  const is_verified = way === "mailed";
  return { email, name, password_hash: await hashPassword(password), made_through: "invitation", made_by_id: invited_by_id, is_verified };
}

/** Creates the account. @throws AppError AUTH_REQUIRED when the address got an account meanwhile */
async function createAccount(tx: Prisma.TransactionClient, account: NewAccount): Promise<User> {
  return insertAccount(tx, account).catch((error: unknown) => {
    throw isAppError(error) && error.code === "CONFLICT" ? signInRequired() : error;
  });
}

function hasSessionOf(principal: Principal | null, { id, password_hash }: User): boolean {
  if (principal?.auth.type !== "session" || principal.user.id !== id) return false;
  const { password_mark } = principal.auth;
  return password_mark === undefined || password_mark === passwordMark(password_hash);
}

/**
 * Returns the account of the address, locked against deletion and new passwords. Its mailed link, opened with its session, proves the
 * address: what the account had before is put aside. A link that was handed over changes nothing of the account.
 * @throws AppError AUTH_REQUIRED without the account's session, CONFLICT when the account was deleted meanwhile
 */
async function existingAccount(
  tx: Prisma.TransactionClient,
  { email, way }: FoundInvitation,
  given: Given,
  principal: Principal | null,
): Promise<User> {
  await tx.$queryRaw`SELECT id FROM users WHERE email = ${email} FOR UPDATE`;
  const user = await tx.user.findUnique({ where: { email } });
  if (!user) throw new AppError("CONFLICT", "The account of this address was deleted. Open the invitation again to create a new one.");
  if (!hasSessionOf(principal, user)) throw signInRequired();

  const [extra] = Object.entries(given).flatMap(([key, value]) => (value === undefined ? [] : [key]));
  if (extra) throw invalidField(extra, "Leave this out: an invitation does not change an existing account.");

  if (way !== "mailed") return user;
  const kept_session = principal?.auth.type === "session" ? principal.auth.session_id : undefined;
  return provenAddress(tx, user.id, { by: "mailed_invitation", kept_session });
}

/** Marks the invitation as used. @throws AppError CONFLICT for the second of two concurrent calls */
async function use(tx: Prisma.TransactionClient, invitationId: string): Promise<void> {
  const { count } = await tx.invitation.updateMany({ where: { id: invitationId, accepted_at: null }, data: { accepted_at: new Date() } });
  if (count === 0) throw invitationUsed();
}

/**
 * Adds the invited address to the project: with a new account, or with the existing account of the address, for which the caller must
 * be signed in to it. An existing account keeps its password, keys and memberships, except that a mailed link is proof of its address
 * (server/decisions/0021).
 * @throws AppError NOT_FOUND for an unknown or expired invitation
 * @throws AppError CONFLICT for a used one
 * @throws AppError AUTH_REQUIRED when the address has an account and `principal` is not a session of it
 * @throws AppError VALIDATION_ERROR without name and password for a new account, or with them for an existing one
 */
export async function acceptInvitation(
  { token, ...given }: z.infer<typeof AcceptInvitationInput>,
  principal: Principal | null,
): Promise<z.infer<typeof SignedUp>> {
  const invitation = await findInvitation(token, principal);
  const { id, email, project, role } = invitation;
  const hasAccount = (await db().user.findUnique({ where: { email }, select: { id: true } })) !== null;
  const account = hasAccount ? null : await newAccountOf(invitation, given);

  return db().$transaction(async (tx) => {
    await use(tx, id);
    const user = account ? await createAccount(tx, account) : await existingAccount(tx, invitation, given, principal);
    await joinProject(tx, { project_id: project.id, user_id: user.id, role });
    const resource = { resource_type: "member", resource_id: user.id, resource_name: email } as const;
    await recordAudit(tx, { user, auth: { type: "session" }, project }, { action: "member.join", ...resource, detail: { role } });
    return signedUp(user);
  }, PROOF_OPTIONS);
}
