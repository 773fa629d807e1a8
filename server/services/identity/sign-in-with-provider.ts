import type { Invitation, User } from "#prisma/generated/client.ts";
import { db } from "#server/db/client.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { insertAccount } from "#server/services/identity/insert-account.ts";
import { insertFirstProject } from "#server/services/identity/insert-first-owner.ts";
import { joinProject } from "#server/services/projects/join-project.ts";
import { settings } from "#server/settings.ts";

/**
 * The user for an address that a sign-in provider vouches for. A new address gets an account when it was invited
 * somewhere, or where anybody may sign up; otherwise null.
 */
export async function signInWithProvider({ email: given, name }: { email: string; name: string }): Promise<User | null> {
  const email = given.toLowerCase();
  return db().$transaction(async (tx) => {
    const user = await tx.user.findUnique({ where: { email } });
    if (user) return user;
    const invitations = await tx.invitation.findMany({
      where: { email, accepted_at: null, expires_at: { gt: new Date() } },
      include: { project: { select: { id: true, slug: true, name: true } } },
    });
    if (!invitations.length && !settings().ALLOW_SIGNUP) return null;
    const created = await insertAccount(tx, { email, name, password_hash: null });
    if (!invitations.length) await insertFirstProject(tx, created);
    for (const invitation of invitations) await join(tx, created, invitation);
    return created;
  });
}

async function join(
  tx: Parameters<typeof insertAccount>[0],
  user: User,
  { id, role, project }: Invitation & { project: { id: string; slug: string; name: string } },
): Promise<void> {
  await tx.invitation.update({ where: { id }, data: { accepted_at: new Date() } });
  await joinProject(tx, { project_id: project.id, user_id: user.id, role }, "set role");
  const resource = { resource_type: "member", resource_id: user.id, resource_name: user.email };
  await recordAudit({ user, auth: { type: "session" }, project }, { action: "member.join", ...resource, detail: { role } }, tx);
}
