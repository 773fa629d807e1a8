import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { isFinal } from "#server/runs/schema.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { detailFields } from "#server/runs/use-cases/execution-dto.ts";

/**
 * An execution's row and the graph that it runs, for `executionDto`.
 * @throws AppError NOT_FOUND
 */
export async function findExecution({ project }: ProjectPrincipal, execution_id: string) {
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await db().execution.findFirst({ where: { id: execution_id, project_id: project.id }, select: detailFields });
  if (!row) throw notFound("execution");
  return { row, graph: await snapshotGraph(row.snapshot_id) };
}

/**
 * An execution that has ended, to begin another with its results.
 * @throws AppError NOT_FOUND; CONFLICT when it has not ended, or its workflow has been deleted
 */
export async function findOriginal(project_id: string, execution_id: string) {
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await db().execution.findFirst({
    where: { id: execution_id, project_id },
    select: {
      status: true,
      workflow_id: true,
      workflow_version: true,
      snapshot_id: true,
      snapshot: { select: { graph: true } },
      values: { select: { input: true, params: true } },
      workflow: { select: { deleted_at: true, name: true } },
    },
  });
  if (!row) throw notFound("execution");
  if (!isFinal(row.status))
    throw new AppError("CONFLICT", `This execution has not ended: it is ${row.status}. Wait for it, or cancel it first.`);
  if (row.workflow.deleted_at) throw new AppError("CONFLICT", "The workflow of this execution has been deleted, so it cannot run again.");
  return row;
}
