import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import type { ResumedMemberships, ResumeMembershipsInput } from "#server/features/identity/schema.ts";
import { joinProject } from "#server/features/projects/members.ts";
import type { MadeThrough } from "#server/features/projects/schema.ts";
import { dropSecondFactor } from "#server/features/security/second-factor.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { endSessions } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isUniqueViolation } from "#server/platform/errors.ts";
import { isPassword, randomToken, sha256 } from "#server/platform/secrets.ts";

export interface NewAccount {
  /** In any case. */
  email: string;
  name: string;
  /** Null for one that only signs in through another service. */
  password_hash: string | null;
  made_through: MadeThrough;
  /** Who invited the person. */
  made_by_id?: string | null;
  /** Whether it is known that the person reads the mail of the address; see server/decisions/0021. */
  is_verified: boolean;
}

/**
 * Adds a user.
 * @throws AppError CONFLICT when the address has an account
 */
export async function insertAccount(within: Prisma.TransactionClient, { email, is_verified, ...account }: NewAccount): Promise<User> {
  try {
    return await within.user.create({
      data: { ...account, email: email.toLowerCase(), email_verified_at: is_verified ? new Date() : null },
    });
  } catch (error) {
    throw isUniqueViolation(error)
      ? new AppError("CONFLICT", "There is an account with this e-mail address already: sign in instead.")
      : error;
  }
}

/** What a new account is told about itself. */
export const signedUp = ({ id, email, name }: User): { id: string; email: string; name: string } => ({ id, email, name });

/** Held memberships wait for as long as it takes. */
const EVER = new Date("9999-12-31T00:00:00Z");

/** What no password is the one behind. */
const NO_HASH = "";

/**
 * Puts every membership but that of one project aside, for whoever knows the password that the account has now.
 * @param isForNobody where the password alone did not open the account: then only a new invitation, or verifying the address, does
 */
async function holdMemberships(tx: Prisma.TransactionClient, user: User, kept_project_id: string, isForNobody: boolean): Promise<void> {
  const where = { user_id: user.id, project_id: { not: kept_project_id } };
  const memberships = await tx.membership.findMany({ where, select: { project_id: true, role: true } });
  for (const { project_id, role } of memberships) {
    await tx.invitation.deleteMany({ where: { project_id, email: user.email, accepted_at: null } });
    await tx.invitation.create({
      data: {
        project_id,
        email: user.email,
        role,
        // Of a link that nobody has.
        token_hash: sha256(randomToken()),
        held_password_hash: isForNobody ? NO_HASH : (user.password_hash ?? NO_HASH),
        expires_at: EVER,
      },
    });
    const resource = { resource_type: "member", resource_id: user.id, resource_name: user.email };
    await recordAudit(
      { user, auth: { type: "session" }, project: { id: project_id } },
      { action: "member.hold", ...resource, detail: { role, because: "the account got a new password through an invitation elsewhere" } },
      tx,
    );
  }
  await tx.membership.deleteMany({ where });
}

/**
 * Gives an account whose address nobody has proven to be theirs to whoever came in another way: every session and API key ends
 * with the old password. See server/decisions/0021.
 * @param to `password_hash` null for one who signs in through another service; `is_verified` whether that way proved the
 *   address, and so keeps all that the account has; else only `project_id` is kept, and the rest put aside
 */
export async function resetAccount(
  tx: Prisma.TransactionClient,
  user: User,
  to: { password_hash: string | null; name?: string } & ({ is_verified: true } | { is_verified: false; project_id: string }),
): Promise<User> {
  // First, so that no key that is being made is missed.
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${user.id}::uuid FOR UPDATE`;
  // Where the mail proves the address, the second factor stays: or whoever has the mailbox would come in without it.
  const hadFactor = (!to.is_verified || to.password_hash === null) && (await dropSecondFactor(tx, user.id));
  if (!to.is_verified) await holdMemberships(tx, user, to.project_id, hadFactor);
  await endSessions(tx, user.id);
  await tx.platformKey.deleteMany({ where: { user_id: user.id } });
  await tx.idempotencyKey.deleteMany({ where: { user_id: user.id } });
  return tx.user.update({
    where: { id: user.id },
    data: {
      password_hash: to.password_hash,
      ...(to.name !== undefined && { name: to.name }),
      ...(to.is_verified && { email_verified_at: new Date() }),
    },
  });
}

/** So many earlier passwords are tried, since each costs some 50 ms: the oldest first, so that nobody pushes them out by taking the account over and over. */
const MOST_PASSWORDS = 100;

async function hashOf(email: string, password: string): Promise<string | undefined> {
  const rows = await db().invitation.groupBy({
    by: ["held_password_hash"],
    where: { email, accepted_at: null, held_password_hash: { not: null } },
    _min: { created_at: true },
    orderBy: { _min: { created_at: "asc" } },
    take: MOST_PASSWORDS,
  });
  for (const { held_password_hash: hash } of rows) if (hash && (await isPassword(hash, password))) return hash;
  return undefined;
}

/**
 * Takes up the memberships again that were put aside when the account got a new password through somebody's invitation: who
 * knows the password that it had in them is who was in them.
 * @throws AppError VALIDATION_ERROR when it had no such password; RATE_LIMIT_EXCEEDED after too many
 */
export async function resumeMemberships(
  principal: Principal,
  { password }: z.infer<typeof ResumeMembershipsInput>,
): Promise<z.infer<typeof ResumedMemberships>> {
  const { id: user_id, email } = principal.user;
  await countOwnPasswordTry(user_id, "earlier");
  const held_password_hash = await hashOf(email, password);
  if (held_password_hash === undefined) throw invalidField("password", "That is not the password that this account had before.");
  await forgetOwnPasswordTries(user_id, "earlier");
  return db().$transaction(async (tx) => {
    const where = { email, accepted_at: null, held_password_hash };
    const rows = await tx.invitation.findMany({ where, include: { project: { select: { id: true, name: true } } } });
    for (const { id, role, project } of rows) {
      await tx.invitation.delete({ where: { id } });
      await joinProject(tx, { project_id: project.id, user_id, role });
      const resource = { resource_type: "member", resource_id: user_id, resource_name: email };
      const detail = { role, because: "earlier password" };
      await recordAudit({ ...principal, project }, { action: "member.join", ...resource, detail }, tx);
    }
    return { projects: rows.map(({ project }) => project.name) };
  });
}
