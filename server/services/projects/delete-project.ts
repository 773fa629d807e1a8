import type { z } from "zod";
import type { Principal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import type { ProjectRef } from "#server/schemas/project.ts";
import { memberOf } from "#server/services/projects/member-of.ts";

/**
 * Deletes a project with everything in it; runs under way end with their rows. Its audit log goes too, so the deletion
 * itself is told in the service's own log.
 * @throws AppError NOT_FOUND, PERMISSION_DENIED below admin
 */
export async function deleteProject(principal: Principal, { project_id }: z.infer<typeof ProjectRef>): Promise<void> {
  const { project, user } = await memberOf(principal, project_id, "admin");
  const inProject = { where: { project_id } };
  // What may not lose what it points to (a run its graph, an agent its key) goes first; the rest follows the project.
  await db().$transaction(
    async (tx) => {
      await tx.execution.deleteMany(inProject);
      await tx.workflowVersion.deleteMany({ where: { workflow: { project_id } } });
      await tx.agent.deleteMany(inProject);
      await tx.project.deleteMany({ where: { id: project_id } });
    },
    { timeout: 120_000 },
  );
  log.info({ project_id, name: project.name, user_id: user.id }, "project deleted");
}
