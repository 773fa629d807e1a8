import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { snapshotGraph } from "#server/engine/run-store-graphs.ts";
import { notFound } from "#server/errors.ts";
import { detailFields } from "#server/services/executions/execution-dto.ts";
import { isUuid } from "#server/services/ids.ts";

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
