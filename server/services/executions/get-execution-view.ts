import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { ExecutionView } from "#server/schemas/execution.ts";
import { Graph } from "#server/schemas/graph.ts";
import { detailFields, executionDto } from "#server/services/executions/execution-dto.ts";
import { isUuid } from "#server/services/ids.ts";

/**
 * An execution with the graph that it runs, and the number of the newest event that this picture includes: a viewer
 * follows the stream from there and misses nothing.
 * @throws AppError NOT_FOUND
 */
export async function getExecutionView({ project }: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<ExecutionView> {
  if (!isUuid(execution_id)) throw notFound("execution");
  // The relations are read by several statements; one snapshot of the database makes them tell one moment.
  const row = await db().$transaction(
    (tx) => tx.execution.findFirst({ where: { id: execution_id, project_id: project.id }, select: detailFields }),
    {
      isolationLevel: "RepeatableRead",
    },
  );
  if (!row) throw notFound("execution");
  const graph = Graph.parse(row.snapshot.graph);
  return { execution: executionDto(row, graph), graph, last_event_id: row.last_seq };
}
