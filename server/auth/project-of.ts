import type { Principal, ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { isUuid } from "#server/services/ids.ts";

const withProject = { role: true, project: { select: { id: true, slug: true, name: true, owner_id: true } } } as const;

/** Slugs are unique per owner, so several projects of one slug may be within reach: mine comes first, then the oldest membership. */
async function bySlug(userId: string, slug: string) {
  const found = await db().membership.findMany({
    where: { user_id: userId, project: { slug } },
    select: withProject,
    orderBy: [{ created_at: "asc" }, { project_id: "asc" }],
  });
  return found.find((membership) => membership.project.owner_id === userId) ?? found[0];
}

async function byId(userId: string, projectId: string) {
  if (!isUuid(projectId)) return null;
  return db().membership.findUnique({
    where: { project_id_user_id: { project_id: projectId, user_id: userId } },
    select: withProject,
  });
}

async function theOnlyOne(userId: string) {
  const found = await db().membership.findMany({ where: { user_id: userId }, select: withProject, take: 2 });
  if (found.length > 1)
    throw new AppError("BAD_REQUEST", "You are in several projects: name one with the header X-Project-Slug or X-Project-ID.");
  if (!found[0]) throw new AppError("NOT_FOUND", "You are in no project yet: create one, or ask to be added to one.");
  return found[0];
}

/**
 * The project of a call: X-Project-Slug, else X-Project-ID, else the only project of the user.
 * @throws AppError BAD_REQUEST with several projects and no header; NOT_FOUND for a project the user is not in, exactly
 *   as for one that does not exist
 */
export async function projectOf(principal: Principal, headers: Headers): Promise<ProjectPrincipal> {
  const slug = headers.get("x-project-slug")?.trim();
  const id = headers.get("x-project-id")?.trim();
  const membership = slug
    ? await bySlug(principal.user.id, slug)
    : id
      ? await byId(principal.user.id, id)
      : await theOnlyOne(principal.user.id);
  if (!membership)
    throw new AppError("NOT_FOUND", `You are in no project with the ${slug ? "slug of X-Project-Slug" : "id of X-Project-ID"}.`);
  const { owner_id: _, ...project } = membership.project;
  return { ...principal, project, role: membership.role };
}
