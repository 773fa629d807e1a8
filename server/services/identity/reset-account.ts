import type { Prisma, User } from "#prisma/generated/client.ts";
import { randomToken, sha256 } from "#server/secrets.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";

/** Held memberships wait for as long as it takes. */
const EVER = new Date("9999-12-31T00:00:00Z");

/** Puts every membership but that of one project aside, for whoever knows the password that the account has now. */
async function holdMemberships(tx: Prisma.TransactionClient, user: User, kept_project_id: string): Promise<void> {
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
        held_password_hash: user.password_hash ?? "",
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
  if (!to.is_verified) await holdMemberships(tx, user, to.project_id);
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
