import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Invitation, InvitationInput, OpenedInvitation } from "#server/schemas/identity.ts";
import { type FoundInvitation, findInvitation } from "#server/services/identity/find-invitation.ts";

const dto = ({ email, project, role, expires_at }: FoundInvitation): z.infer<typeof Invitation> => ({
  email,
  project: { name: project.name, slug: project.slug },
  role,
  expires_at: expires_at.toISOString(),
});

/** What somebody is invited to. @throws AppError NOT_FOUND for an unknown or expired one; CONFLICT for one that was used */
export const getInvitation = async ({ token }: z.infer<typeof InvitationInput>): Promise<z.infer<typeof Invitation>> =>
  dto(await findInvitation(token, null));

/** The same for the page of the link, with how its visitor may join. @throws as `getInvitation` */
export async function openInvitation({ token }: z.infer<typeof InvitationInput>, principal: Principal | null): Promise<OpenedInvitation> {
  const found = await findInvitation(token, null);
  const user = await db().user.findUnique({ where: { email: found.email } });
  const isOwn = principal?.auth.type === "session" && principal.user.id === user?.id;
  const account = !user ? "none" : isOwn ? "signed_in" : user.email_verified_at || user.is_install_admin ? "verified" : "unverified";
  return {
    ...dto(found),
    project_id: found.project_id,
    account,
    is_mailed: found.way === "mailed",
    signed_in_as: principal?.user.email ?? null,
  };
}
