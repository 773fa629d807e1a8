import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { ExecutionSummary, ListExecutionsInput } from "#server/runs/schema.ts";
import { countExecutions } from "#server/runs/store/count-executions.ts";
import { latestOfWorkflow, pageOfExecutions } from "#server/runs/store/executions.ts";
import { summaryDto } from "#server/runs/use-cases/execution-dto.ts";
import type { Page } from "#server/shared/primitives-schema.ts";

/** The project's executions, newest first. A workflow that does not exist has none. */
export async function listExecutions({ project }: ProjectPrincipal, input: ListExecutionsInput): Promise<Page<ExecutionSummary>> {
  const { workflow_id, status } = input;
  if (workflow_id && !isUuid(workflow_id)) return paged(input, [0, []], summaryDto);
  const filter = { project_id: project.id, workflow_id, status };
  const counted = await countExecutions(filter);
  return paged(input, [counted.total, await pageOfExecutions(filter, pageWindow(input), counted)], summaryDto);
}

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
  return (await latestOfWorkflow(workflow_id, limit)).map(summaryDto);
}
