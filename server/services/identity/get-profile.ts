import { projectLimit } from "#server/auth/key-rights.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { UserProfile } from "#server/schemas/identity.ts";

/** The caller with all projects that the key opens, in the order of joining. */
export async function getProfile(principal: Principal): Promise<UserProfile> {
  const { user } = principal;
  const limit = projectLimit(principal);
  const row = await db().user.findUniqueOrThrow({
    where: { id: user.id },
    select: {
      id: true,
      email: true,
      name: true,
      created_at: true,
      is_install_admin: true,
      memberships: {
        ...(limit && { where: { project_id: { in: [...limit] } } }),
        select: { role: true, slug: true, project: { select: { id: true, slug: true, name: true } } },
        orderBy: [{ created_at: "asc" }, { project_id: "asc" }],
      },
    },
  });
  const { memberships, created_at, ...who } = row;
  return {
    ...who,
    created_at: created_at.toISOString(),
    projects: memberships.map(({ project, slug, role }) => ({ ...project, slug: slug ?? project.slug, role })),
  };
}
