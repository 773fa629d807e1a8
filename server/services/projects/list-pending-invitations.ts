import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { PendingInvitation, ProjectRef } from "#server/schemas/project.ts";
import { accountFields, invitedAccount } from "#server/services/projects/invited-account.ts";
import { memberOf } from "#server/services/projects/member-of.ts";

/** More than a page shows at once. */
const MOST = 200;

/** Who was invited and has not answered, newest first. @throws AppError NOT_FOUND, PERMISSION_DENIED below admin */
export async function listPendingInvitations(
  principal: Principal,
  { project_id }: z.infer<typeof ProjectRef>,
): Promise<z.infer<typeof PendingInvitation>[]> {
  await memberOf(principal, project_id, "admin");
  const rows = await db().invitation.findMany({
    where: { project_id, accepted_at: null, expires_at: { gt: new Date() } },
    select: { id: true, email: true, role: true, expires_at: true, held_password_hash: true },
    orderBy: { id: "desc" },
    take: MOST,
  });
  const users = await db().user.findMany({
    where: { email: { in: rows.map(({ email }) => email) } },
    select: { email: true, ...accountFields },
  });
  const accounts = new Map(users.map((user) => [user.email, invitedAccount(user)]));
  return rows.map(({ held_password_hash, expires_at, ...row }) => ({
    ...row,
    expires_at: expires_at.toISOString(),
    was_member: held_password_hash !== null,
    account: accounts.get(row.email) ?? null,
  }));
}
