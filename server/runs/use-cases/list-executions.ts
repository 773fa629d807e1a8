import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { ExecutionFilter, ExecutionPage, ExecutionSummary, ListExecutionsInput } from "#server/runs/schema.ts";
import { ExecutionStatus } from "#server/runs/status-schema.ts";
import { latestOfWorkflow, type RunScope, summariesOf } from "#server/runs/store/executions.ts";
import { type ExecutionSearch, findExecutions } from "#server/runs/store/find-executions.ts";
import { summaryDto } from "#server/runs/use-cases/execution-dto.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";
import { firstInstant, lastInstant } from "#server/shared/time-input.ts";

/** A filter as callers write it, for the store; null for one that names a workflow that cannot be. */
export function executionSearch(scope: RunScope, { workflow_id, status, trigger, from, to, q }: ExecutionFilter): ExecutionSearch | null {
  if (workflow_id !== undefined && !isUuid(workflow_id)) return null;
  return {
    ...scope,
    workflow_id,
    // Each was checked by the schema.
    statuses: status === undefined ? undefined : [...new Set(status.split(","))].map((one) => ExecutionStatus.parse(one)),
    triggers: trigger?.split(","),
    from: from === undefined ? undefined : firstInstant(from),
    to: to === undefined ? undefined : lastInstant(to),
    q,
  };
}

/** The project's executions, newest first. A workflow that does not exist has none. */
export async function listExecutions(principal: ProjectPrincipal, input: ListExecutionsInput): Promise<ExecutionPage> {
  const search = executionSearch(runScopeOf(principal), input);
  if (!search) return paged(input, [0, []], summaryDto);
  const { ids, total, isPartial, searchedUntil } = await findExecutions(search, pageWindow(input));
  return {
    ...paged(input, [total, await summariesOf(ids)], summaryDto),
    ...(isPartial && { total_is_partial: true }),
    ...(searchedUntil && { searched_until: searchedUntil.toISOString() }),
  };
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
