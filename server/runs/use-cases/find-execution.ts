import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
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
