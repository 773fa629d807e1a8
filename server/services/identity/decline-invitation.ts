import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { DeclineInvitationInput } from "#server/schemas/identity.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { findInvitation } from "#server/services/identity/find-invitation.ts";

/** Says no to an invitation that the signed-in person is asked about. @throws AppError NOT_FOUND */
export async function declineInvitation(principal: Principal, { invitation_id }: z.infer<typeof DeclineInvitationInput>): Promise<void> {
  const { id, email, project, role } = await findInvitation(invitation_id, principal);
  await db().$transaction(async (tx) => {
    await tx.invitation.deleteMany({ where: { id } });
    const resource = { resource_type: "member", resource_id: id, resource_name: email };
    await recordAudit({ ...principal, project }, { action: "member.decline", ...resource, detail: { role } }, tx);
  });
}
