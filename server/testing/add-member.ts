import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

/** Makes somebody with an account a member, or changes the role: the admin invites, and the person accepts in a browser that is signed in. */
export async function addMember(admin: ProjectPrincipal, user: ProjectPrincipal["user"], role: Role): Promise<void> {
  const { invite_url } = await setMember(admin, { project_id: admin.project.id, email: user.email, role });
  const token = invite_url?.split("/invite/")[1];
  if (token) await acceptInvitation({ token }, { user, auth: { type: "session" } });
}
