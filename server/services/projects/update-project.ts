import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Project, UpdateProjectInput } from "#server/schemas/project.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUniqueViolation } from "#server/services/database-errors.ts";
import { slugTaken } from "#server/services/projects/insert-project.ts";
import { memberOf } from "#server/services/projects/member-of.ts";
import { projectDto } from "#server/services/projects/project-dto.ts";

/**
 * Changes name, slug or retention of a project; what is left out stays.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin, CONFLICT for a slug that its owner uses already
 */
export async function updateProject(principal: Principal, input: z.infer<typeof UpdateProjectInput>): Promise<Project> {
  const member = await memberOf(principal, input.project_id, "admin");
  const { name, slug, retention_days } = input;
  const change = {
    ...(name !== undefined && { name }),
    ...(slug !== undefined && { slug }),
    ...(retention_days !== undefined && { retention_days }),
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
