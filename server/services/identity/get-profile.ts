import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { UserProfile } from "#server/schemas/identity.ts";

/** The caller with all projects, in the order of joining. */
export async function getProfile({ user }: Principal): Promise<UserProfile> {
  const row = await db().user.findUniqueOrThrow({
    where: { id: user.id },
    select: {
      id: true,
      email: true,
      name: true,
      created_at: true,
      memberships: {
        select: { role: true, project: { select: { id: true, slug: true, name: true } } },
        orderBy: [{ created_at: "asc" }, { project_id: "asc" }],
      },
    },
  });
  const { memberships, created_at, ...who } = row;
  return { ...who, created_at: created_at.toISOString(), projects: memberships.map(({ project, role }) => ({ ...project, role })) };
}
