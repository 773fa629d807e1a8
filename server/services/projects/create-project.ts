import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { CreateProjectInput, Project } from "#server/schemas/project.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { insertProject } from "#server/services/projects/insert-project.ts";
import { projectDto } from "#server/services/projects/project-dto.ts";

/**
 * Creates a project; the caller owns it and is its admin.
 * @throws AppError CONFLICT when the caller has a project of that slug
 */
export async function createProject(principal: Principal, input: z.infer<typeof CreateProjectInput>): Promise<Project> {
  return db().$transaction(async (tx) => {
    const project = await insertProject(tx, principal.user.id, input);
    const resource = { resource_type: "project", resource_id: project.id, resource_name: project.name };
    await recordAudit({ ...principal, project }, { action: "project.create", ...resource }, tx);
    return projectDto(project, "admin");
  });
}
