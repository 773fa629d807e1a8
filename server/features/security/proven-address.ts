import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import { endShareLinks } from "#server/features/canvases/share-links.ts";
import { closeAccess, endServiceAccounts } from "#server/features/projects/close-access.ts";
import { insertFirstProject } from "#server/features/projects/service.ts";
import type { EndedAccess } from "#server/features/security/schema.ts";
import { dropSecondFactor } from "#server/features/security/second-factor.ts";
import { recordAuditEverywhere } from "#server/platform/audit/audit.ts";
import { endSessions } from "#server/platform/auth/session.ts";
import { AppError } from "#server/platform/errors.ts";
import { randomToken, sha256 } from "#server/platform/secrets.ts";

// The only place where an existing account becomes verified (server/decisions/0021).

interface Proof {
  by: "provider" | "mailed_reset" | "mailed_invitation";
  /** Id of the session that gave the proof, which continues. */
  kept_session?: string | undefined;
}

/** Options of a transaction that calls `provenAddress`: an account may hold many projects. */
export const PROOF_OPTIONS = { timeout: 60_000 };

/** Time when an invitation without a link expires. */
const NEVER = new Date("9999-12-31T00:00:00Z");

/**
 * Returns the ids of the projects in which the account is the only person. A membership of another person that is put aside counts as
 * a person, since it may be taken up again.
 */
async function projectsAlone(tx: Prisma.TransactionClient, { id, email }: User): Promise<string[]> {
  const rows = await tx.$queryRaw<{ project_id: string }[]>`
    SELECT m.project_id FROM memberships m WHERE m.user_id = ${id}::uuid
      AND NOT EXISTS (
        SELECT FROM memberships other JOIN users u ON u.id = other.user_id
        WHERE other.project_id = m.project_id AND other.user_id <> m.user_id AND u.service_project_id IS NULL)
      AND NOT EXISTS (
        SELECT FROM invitations i WHERE i.project_id = m.project_id AND i.email <> ${email} AND i.accepted_at IS NULL
          AND (i.put_aside_at IS NOT NULL OR i.held_password_hash IS NOT NULL))`;
  return rows.map(({ project_id }) => project_id);
}

/** Ends all that opens the account, or a project by what the account created there. @returns counts of it */
async function endAccess(tx: Prisma.TransactionClient, user: User, kept_session?: string): Promise<z.infer<typeof EndedAccess>> {
  const { id } = user;
  const sessions = await endSessions(tx, id, kept_session);
  const second_factor = await dropSecondFactor(tx, id);
  const api_keys = (await tx.platformKey.deleteMany({ where: { user_id: id } })).count;
  await tx.idempotencyKey.deleteMany({ where: { user_id: id } });
  await tx.passwordReset.deleteMany({ where: { user_id: id } });
  await tx.notification.deleteMany({ where: { user_id: id } });
  await tx.reviewVote.deleteMany({ where: { user_id: id, wait: { status: "waiting" } } });
  await tx.invitation.deleteMany({ where: { invited_by_id: id, accepted_at: null } });

  const alone = await closeAccess(tx, await projectsAlone(tx, user));
  const made = await tx.user.findMany({
    where: { made_by_id: id, service_project_id: { not: null }, deleted_at: null },
    select: { id: true },
  });
  const ids = made.map((account) => account.id);
  const share_links = await endShareLinks(tx, { shared_by_id: { in: [id, ...ids] } });
  await endServiceAccounts(tx, ids);
  return {
    sessions,
    second_factor,
    api_keys,
    service_accounts: alone.service_accounts + ids.length,
    share_links: alone.share_links + share_links,
  };
}

/**
 * Puts the memberships aside, as invitations without a link that only the account itself can take up; those that an earlier release
 * put aside become such too.
 * @returns how many
 */
async function putMembershipsAside(tx: Prisma.TransactionClient, { id, email }: User): Promise<number> {
  const put_aside_at = new Date();
  const where = { user_id: id };
  const memberships = await tx.membership.findMany({ where, select: { project_id: true, role: true } });
  await tx.$executeRaw`
    DELETE FROM invitations i USING memberships m
    WHERE m.user_id = ${id}::uuid AND i.project_id = m.project_id AND i.email = ${email} AND i.accepted_at IS NULL`;
  await tx.invitation.createMany({
    data: memberships.map(({ project_id, role }) => ({
      project_id,
      email,
      role,
      put_aside_at,
      // Hash of a token that is never issued.
      token_hash: sha256(randomToken()),
      expires_at: NEVER,
    })),
  });
  await tx.membership.deleteMany({ where });
  const held = await tx.invitation.updateMany({
    where: { email, accepted_at: null, held_password_hash: { not: null } },
    data: { put_aside_at, held_password_hash: null },
  });
  return memberships.length + held.count;
}

/**
 * Marks the address of an account as proven. At the first proof everything that the account acquired before is put aside, since another
 * person may have created it: memberships wait for the owner's decision, and what opens the account or its projects ends. The owner gets a
 * new first project. A proof by a provider ends the password too. An account that is proven already stays unchanged.
 * @throws AppError CONFLICT when the account was deleted meanwhile
 */
export async function provenAddress(tx: Prisma.TransactionClient, user_id: string, { by, kept_session }: Proof): Promise<User> {
  // First, so that no key or membership that is being created is missed.
  await tx.$queryRaw`SELECT id FROM users WHERE id = ${user_id}::uuid FOR UPDATE`;
  const user = await tx.user.findUniqueOrThrow({ where: { id: user_id } });
  if (user.deleted_at) throw new AppError("CONFLICT", "This account was deleted just now. Try again to create a new one.");
  if (user.email_verified_at) return user;

  const record = { action: "account.prove_address", resource_type: "account", resource_id: user.id, resource_name: user.email } as const;
  await recordAuditEverywhere(tx, { user, auth: { type: by === "mailed_reset" ? "email" : "session" } }, { ...record, detail: { by } });
  const put_aside = await endAccess(tx, user, kept_session);
  const memberships = await putMembershipsAside(tx, user);
  const proven = await tx.user.update({
    where: { id: user.id },
    data: { email_verified_at: new Date(), notification_choices: {}, put_aside, ...(by === "provider" && { password_hash: null }) },
  });
  if (memberships > 0) await insertFirstProject(tx, proven);
  return proven;
}
