import type { z } from "zod";
import type { Prisma, User } from "#prisma/generated/client.ts";
import type { ResumedMemberships, ResumeMembershipsInput } from "#server/features/identity/schema.ts";
import { joinProject } from "#server/features/projects/members.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import { countOwnPasswordTry, forgetOwnPasswordTries } from "#server/platform/auth/limits.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, invalidField, isUniqueViolation } from "#server/platform/errors.ts";
import { isPassword } from "#server/platform/secrets.ts";

export interface NewAccount {
  /** In any case. */
  email: string;
  name: string;
  /** Null for one that only signs in through another service. */
  password_hash: string | null;
  made_through: "setup" | "bootstrap" | "sign_up" | "invitation" | "provider";
  /** Who invited the person. */
  made_by_id?: string | null;
  /** True when a mailed link or a sign-in provider proved the address; see server/decisions/0021. */
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

/** Earlier passwords that are compared, oldest first; each comparison takes about 50 ms. */
const MAX_EARLIER_PASSWORDS = 100;

async function hashOf(email: string, password: string): Promise<string | undefined> {
  const rows = await db().invitation.groupBy({
    by: ["held_password_hash"],
    where: { email, accepted_at: null, held_password_hash: { not: null } },
    _min: { created_at: true },
    orderBy: { _min: { created_at: "asc" } },
    take: MAX_EARLIER_PASSWORDS,
  });
  for (const { held_password_hash: hash } of rows) if (hash && (await isPassword(hash, password))) return hash;
  return undefined;
}

/**
 * Restores the memberships that an earlier release put aside when an invitation replaced the account's password. The password that
 * the account had in them proves the claim. No invitation puts memberships aside any more (server/decisions/0021).
 * @throws AppError VALIDATION_ERROR when the account had no such password
 * @throws AppError RATE_LIMIT_EXCEEDED after too many tries
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
      const resource = { resource_type: "member", resource_id: user_id, resource_name: email } as const;
      const detail = { role, because: "earlier password" };
      await recordAudit(tx, { ...principal, project }, { action: "member.join", ...resource, detail });
    }
    return { projects: rows.map(({ project }) => project.name) };
  });
}
