import type { z } from "zod";
import type { Prisma, Project as ProjectRow } from "#prisma/generated/client.ts";
import type { Principal, ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { Project, UpdateProjectInput } from "#server/schemas/project.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";
import { freeSlug } from "#server/services/projects/free-slug.ts";
import { hourlyValues } from "#server/services/projects/hourly-limit.ts";
import { slugTaken } from "#server/services/projects/insert-project.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { projectDto } from "#server/services/projects/project-dto.ts";

/**
 * Changes a project with its slug, and what its members call it: the new slug, or one made of it where they have another
 * project of that slug.
 * @throws AppError CONFLICT when the caller has one
 */
async function renamed(
  tx: Prisma.TransactionClient,
  { user, project: { id } }: ProjectPrincipal,
  slug: string,
  data: Prisma.ProjectUpdateInput,
): Promise<ProjectRow> {
  await tx.$queryRaw`SELECT u.id FROM users u JOIN memberships m ON m.user_id = u.id WHERE m.project_id = ${id}::uuid ORDER BY u.id FOR NO KEY UPDATE OF u`;
  if ((await freeSlug(tx, user.id, slug, id)) !== slug) throw slugTaken(slug);
  const row = await tx.project.update({ where: { id }, data });
  await tx.$executeRaw`UPDATE memberships SET slug = nullif(free_slug(user_id, ${slug}, project_id), ${slug}) WHERE project_id = ${id}::uuid`;
  return row;
}

/**
 * Changes name, slug, retention or hourly limit of a project; what is left out stays.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin, VALIDATION_ERROR for more an hour than the install allows, CONFLICT for a slug that its owner uses already
 */
export async function updateProject(principal: Principal, input: z.infer<typeof UpdateProjectInput>): Promise<Project> {
  const member = await memberOf(principal, input.project_id, "admin");
  const { name, slug, retention_days, executions_per_hour } = input;
  const [, most] = hourlyValues();
  if (most > 0 && (executions_per_hour ?? 0) > most) {
    const message = `This install allows a project at most ${most} executions in an hour. Give no more, or ask whoever runs it.`;
    throw new AppError("VALIDATION_ERROR", message, { errors: [{ path: "executions_per_hour", message }] });
  }
  // What the caller calls it is not another slug for everybody.
  const isRenamed = slug !== undefined && slug !== member.project.slug;
  const change = {
    ...(name !== undefined && { name }),
    ...(isRenamed && { slug }),
    ...(retention_days !== undefined && { retention_days }),
    ...(executions_per_hour !== undefined && { executions_per_hour }),
  };
  try {
    return await db().$transaction(async (tx) => {
      const row = isRenamed
        ? await renamed(tx, member, slug, change)
        : await tx.project.update({ where: { id: member.project.id }, data: change });
      const resource = { resource_type: "project", resource_id: row.id, resource_name: row.name };
      await recordAudit(member, { action: "project.update", ...resource, detail: change }, tx);
      return projectDto(row, member.role, isRenamed ? slug : member.project.slug);
    });
  } catch (error) {
    throw isUniqueViolation(error) && slug !== undefined ? slugTaken(slug) : error;
  }
}
