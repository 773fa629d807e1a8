import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import type { ExecutionSummary } from "#server/runs/schema.ts";
import { summaryDto, summaryFields } from "#server/runs/use-cases/execution-dto.ts";

/**
 * The latest executions of one workflow, newest first.
 * @throws AppError NOT_FOUND
 */
export async function listWorkflowExecutions(
  { project }: ProjectPrincipal,
  { workflow_id, limit }: { workflow_id: string; limit: number },
): Promise<ExecutionSummary[]> {
  const where = { id: workflow_id, project_id: project.id, deleted_at: null };
  if (!isUuid(workflow_id) || !(await db().workflow.findFirst({ where, select: { id: true } }))) throw notFound("workflow");
  const rows = await db().execution.findMany({
    where: { workflow_id },
    select: summaryFields,
    orderBy: [{ created_at: "desc" }, { id: "desc" }],
    take: limit,
  });
  return rows.map(summaryDto);
}
