import { projectLimit } from "#server/auth/key-rights.ts";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import type { Project } from "#server/schemas/project.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { projectDto } from "#server/services/projects/project-dto.ts";

/** The projects that the user is a member of and the key opens, newest first. */
export async function listProjects(principal: Principal, input: PageInput): Promise<Page<Project>> {
  const limit = projectLimit(principal);
  const where = { user_id: principal.user.id, ...(limit && { project_id: { in: [...limit] } }) };
  const result = await Promise.all([
    db().membership.count({ where }),
    db().membership.findMany({ where, include: { project: true }, orderBy: { project_id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, result, ({ project, role, slug }) => projectDto(project, role, slug));
}
