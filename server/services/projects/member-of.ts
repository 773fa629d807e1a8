import { opensProject } from "#server/auth/key-rights.ts";
import type { Principal, ProjectPrincipal } from "#server/auth/principal.ts";
import { assertRole } from "#server/auth/roles.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { Role } from "#server/schemas/primitives.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * The principal inside the project that an operation names in its path.
 * @throws AppError NOT_FOUND for a project the user is not in, exactly as for one that does not exist; PERMISSION_DENIED
 *   for a role below `needed`
 */
export async function memberOf(principal: Principal, projectId: string, needed: Role): Promise<ProjectPrincipal> {
  const membership =
    isUuid(projectId) && opensProject(principal, projectId)
      ? await db().membership.findUnique({
          where: { project_id_user_id: { project_id: projectId, user_id: principal.user.id } },
          select: { role: true, slug: true, project: { select: { id: true, slug: true, name: true } } },
        })
      : null;
  if (!membership) throw new AppError("NOT_FOUND", "There is no such project among yours.");
  const { role, slug, project } = membership;
  const member = { ...principal, role, project: { ...project, slug: slug ?? project.slug } };
  assertRole(member, needed);
  return member;
}
