import { db } from "#server/db/client.ts";
import { log } from "#server/log.ts";
import { deleteExecutions } from "#server/services/executions/delete-executions.ts";
import { stopExecutions } from "#server/services/projects/stop-executions.ts";

/** Later than any execution. */
const EVER = new Date("9999-01-01T00:00:00Z");

/**
 * Removes the rows of a project that nobody is in any more: executions in small transactions, then what may not lose what it
 * points to (a version its graph, an agent its key), then the project with the rest.
 * @returns whether it is gone
 */
export async function removeDeletedProject(project_id: string, goOn: () => boolean): Promise<boolean> {
  // One that started in the very moment of the deletion has no end of its own.
  await db().$transaction((tx) => stopExecutions(tx, project_id));
  if (!(await deleteExecutions(project_id, EVER, goOn)).isDone) return false;
  await db().$transaction(
    async (tx) => {
      await tx.workflowVersion.deleteMany({ where: { workflow: { project_id } } });
      await tx.agent.deleteMany({ where: { project_id } });
      await tx.project.deleteMany({ where: { id: project_id, deleted_at: { not: null } } });
    },
    { timeout: 120_000 },
  );
  log.info({ project_id }, "the rows of a deleted project are gone");
  return true;
}

/** Goes on with whatever deleted project has rows left. @returns whether all are gone */
export async function removeDeletedProjects(goOn: () => boolean): Promise<boolean> {
  const projects = await db().project.findMany({
    where: { deleted_at: { not: null } },
    select: { id: true },
    orderBy: { deleted_at: "asc" },
  });
  for (const { id } of projects) if (!(await removeDeletedProject(id, goOn))) return false;
  return true;
}
