import type { Prisma } from "#prisma/generated/client.ts";
import { invalidField } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

// Which workflow is started when a run fails, as a workflow and a project keep it.

/** The columns of a new setting; nothing when it stays. Failures from before are none of its business. */
export const errorWorkflow = (id: string | null | undefined) =>
  id === undefined ? {} : { error_workflow_id: id, error_workflow_since: id === null ? null : new Date() };

/**
 * Makes sure that a workflow can be started when runs fail.
 * @param own the workflow whose setting it is
 * @throws AppError VALIDATION_ERROR when the project has no such workflow, or it is the same
 */
export async function assertErrorWorkflow(
  within: Prisma.TransactionClient,
  project_id: string,
  id: string | null | undefined,
  own?: string,
): Promise<void> {
  if (id === null || id === undefined) return;
  const refuse = (message: string) => invalidField("error_workflow_id", message);
  if (id === own) throw refuse("A workflow cannot be its own error workflow. Choose another one.");
  // Locked, so that it is not deleted meanwhile.
  const found = isUuid(id)
    ? await within.$queryRaw<unknown[]>`
        SELECT 1 FROM workflows WHERE id = ${id}::uuid AND project_id = ${project_id}::uuid AND deleted_at IS NULL FOR SHARE`
    : [];
  if (!found.length) throw refuse("The error workflow is not in this project. Choose another one.");
}

/** Who starts a workflow when runs fail: names of workflows in quotes, and the project. */
export async function errorWorkflowUsers(within: Prisma.TransactionClient, project_id: string, id: string): Promise<string[]> {
  const where = { error_workflow_id: id };
  const [workflows, projects] = [
    await within.workflow.findMany({ where: { ...where, project_id, deleted_at: null }, select: { name: true }, orderBy: { name: "asc" } }),
    await within.project.count({ where: { ...where, id: project_id } }),
  ];
  return [...workflows.map(({ name }) => `“${name}”`), ...(projects ? ["the project"] : [])];
}
