import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import type { Project, UpdateProjectInput } from "#server/schemas/project.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";
import { hourlyValues } from "#server/services/projects/hourly-limit.ts";
import { slugTaken } from "#server/services/projects/insert-project.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { projectDto } from "#server/services/projects/project-dto.ts";

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
  const change = {
    ...(name !== undefined && { name }),
    ...(slug !== undefined && { slug }),
    ...(retention_days !== undefined && { retention_days }),
    ...(executions_per_hour !== undefined && { executions_per_hour }),
  };
  try {
    return await db().$transaction(async (tx) => {
      const row = await tx.project.update({ where: { id: member.project.id }, data: change });
      const resource = { resource_type: "project", resource_id: row.id, resource_name: row.name };
      await recordAudit(member, { action: "project.update", ...resource, detail: change }, tx);
      return projectDto(row, member.role);
    });
  } catch (error) {
    throw isUniqueViolation(error) && slug !== undefined ? slugTaken(slug) : error;
  }
}
