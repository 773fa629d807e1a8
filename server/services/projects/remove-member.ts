import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { RemoveMemberInput } from "#server/schemas/project.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUuid } from "#server/services/ids.ts";
import { keepAnAdmin } from "#server/services/projects/keep-an-admin.ts";
import { memberOf } from "#server/services/projects/member-of.ts";

/**
 * Removes a member, or withdraws the invitation of an address that has not accepted yet.
 * @throws AppError VALIDATION_ERROR without user_id and email; NOT_FOUND for an unknown project or member;
 *   PERMISSION_DENIED below admin; CONFLICT for the last admin
 */
export async function removeMember(principal: Principal, { project_id, user_id, email }: z.infer<typeof RemoveMemberInput>): Promise<void> {
  const admin = await memberOf(principal, project_id, "admin");
  if (user_id === undefined && email === undefined) {
    const message = "Name the member by user_id or email.";
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "user_id", message }] });
  }
  const address = email?.toLowerCase();
  await db().$transaction(async (tx) => {
    const isKnown = user_id === undefined || isUuid(user_id);
    const membership = isKnown
      ? await tx.membership.findFirst({
          where: { project_id, ...(user_id !== undefined && { user_id }), ...(address && { user: { email: address } }) },
          select: { user_id: true, role: true, user: { select: { email: true } } },
        })
      : null;
    if (membership) {
      await keepAnAdmin(tx, project_id, membership.user_id);
      await tx.membership.deleteMany({ where: { project_id, user_id: membership.user_id } });
      const resource = { resource_type: "member", resource_id: membership.user_id, resource_name: membership.user.email };
      await recordAudit(admin, { action: "member.remove", ...resource, detail: { role: membership.role } }, tx);
      return;
    }
    const invitation = address ? await tx.invitation.findFirst({ where: { project_id, email: address, accepted_at: null } }) : null;
    if (!invitation) throw new AppError("NOT_FOUND", "There is no such member in this project.");
    await tx.invitation.delete({ where: { id: invitation.id } });
    const resource = { resource_type: "member", resource_id: invitation.id, resource_name: invitation.email };
    await recordAudit(admin, { action: "member.uninvite", ...resource }, tx);
  });
}
