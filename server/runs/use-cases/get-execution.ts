import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { type Execution, type ExecutionStatus, type ExecutionView, isFinal } from "#server/runs/schema.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { detailFields, executionDto } from "#server/runs/use-cases/execution-dto.ts";
import { itemSums, lastItems } from "#server/runs/use-cases/item-sums.ts";

/**
 * An execution's row and the graph that it runs, for `executionDto`.
 * @throws AppError NOT_FOUND
 */
async function findExecution({ project }: ProjectPrincipal, execution_id: string) {
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await db().execution.findFirst({ where: { id: execution_id, project_id: project.id }, select: detailFields });
  if (!row) throw notFound("execution");
  return { row, graph: await snapshotGraph(row.snapshot_id) };
}

/**
 * One execution with the result of every node.
 * @throws AppError NOT_FOUND
 */
export async function getExecution(principal: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<Execution> {
  const { row, graph } = await findExecution(principal, execution_id);
  return executionDto(row, graph);
}

/**
 * An execution with the graph that it runs, and the number after which a viewer follows the stream. The row is read before
 * what hangs on it, so events that came in between are told again rather than missed; pieces of nodes that still run are
 * told from their first.
 * @throws AppError NOT_FOUND
 */
export async function getExecutionView(principal: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<ExecutionView> {
  const { row, graph } = await findExecution(principal, execution_id);
  const piece = await db().executionEvent.findFirst({
    where: { execution_id, type: "node_delta" },
    orderBy: { seq: "asc" },
    select: { seq: true },
  });
  const last_event_id = Math.min(row.last_seq, (piece?.seq ?? row.last_seq + 1) - 1);
  const upTo = isFinal(row.status) ? null : last_event_id;
  const [execution, sums] = await Promise.all([executionDto(row, graph), itemSums(execution_id, graph, upTo)]);
  // A node whose latest item went another way is shown as it was at the last one that came there.
  const passed = Object.keys(sums).filter((id) => {
    const result = execution.node_results[id];
    return result?.status === "skipped" && result.started_at === null;
  });
  const last = await lastItems(execution_id, passed, upTo);
  const item_sums = Object.fromEntries(Object.entries(sums).map(([id, sum]) => [id, last[id] ? { ...sum, last: last[id] } : sum]));
  return { execution, graph, last_event_id, item_sums };
}

/**
 * The state that an execution is in; one that is gone counts as cancelled.
 * @throws the database's error
 */
export async function executionStatus(execution_id: string): Promise<ExecutionStatus> {
  const { rows } = await pool().query<{ status: ExecutionStatus }>("SELECT status FROM executions WHERE id = $1", [execution_id]);
  return rows[0]?.status ?? "cancelled";
}

/** True when there is an execution with this id. */
export async function isStored(id: string): Promise<boolean> {
  const { rows } = await pool().query("SELECT FROM executions WHERE id = $1", [id]);
  return rows.length > 0;
}

/** Id of the project that an execution belongs to, or undefined. Says nothing about who may see it. */
export async function projectOfExecution(execution_id: string): Promise<string | undefined> {
  if (!isUuid(execution_id)) return undefined;
  return (await db().execution.findUnique({ where: { id: execution_id }, select: { project_id: true } }))?.project_id;
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
