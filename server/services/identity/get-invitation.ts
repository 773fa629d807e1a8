import type { z } from "zod";
import type { Invitation, InvitationInput } from "#server/schemas/identity.ts";
import { findInvitation } from "#server/services/identity/find-invitation.ts";

/** What somebody is invited to. @throws AppError NOT_FOUND for an unknown or expired one; CONFLICT for one that was used */
export async function getInvitation({ token }: z.infer<typeof InvitationInput>): Promise<z.infer<typeof Invitation>> {
  const { email, project, role, expires_at } = await findInvitation(token);
  return { email, project: { name: project.name, slug: project.slug }, role, expires_at: expires_at.toISOString() };
}
