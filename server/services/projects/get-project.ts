import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Project, ProjectRef } from "#server/schemas/project.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { projectDto } from "#server/services/projects/project-dto.ts";

/** @throws AppError NOT_FOUND for a project the user is not in */
export async function getProject(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<Project> {
  const { role, project } = await memberOf(principal, project_id, "viewer");
  return projectDto(await db().project.findUniqueOrThrow({ where: { id: project_id } }), role, project.slug);
}
