import { executionCancelled } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { recordAudit } from "#server/platform/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { type Execution, type ExecutionStatus, isFinal } from "#server/runs/schema.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { Graph } from "#server/workflow/schema.ts";

/**
 * Ends a run that has not ended. The row decides: its lease is taken away, so that whatever process carries the run can
 * write nothing more; that process is told, and aborts the model calls under way.
 * @throws AppError NOT_FOUND; CONFLICT when the run has ended already
 */
export async function cancelExecution(principal: ProjectPrincipal, { execution_id }: { execution_id: string }): Promise<Execution> {
  if (!isUuid(execution_id)) throw notFound("execution");
  await db().$transaction(async (tx) => {
    // Locks the row: a segment that commits at this moment is either before or after.
    const [row] = await tx.$queryRaw<
      { status: ExecutionStatus; created_at: Date; last_seq: number; snapshot_id: string; workflow_id: string }[]
    >`
      SELECT status, created_at, last_seq, snapshot_id, workflow_id FROM executions
      WHERE id = ${execution_id}::uuid AND project_id = ${principal.project.id}::uuid FOR UPDATE`;
    if (!row) throw notFound("execution");
    if (isFinal(row.status)) throw new AppError("CONFLICT", `This execution has already ended: it is ${row.status}.`);
    const { graph } = await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: row.snapshot_id }, select: { graph: true } });
    const now = new Date();
    const under = await tx.$queryRaw<{ node_id: string; iteration: string }[]>`
      UPDATE node_runs SET status = 'skipped', completed_at = ${now}::timestamptz, duration_ms = extract(epoch FROM ${now}::timestamptz - started_at) * 1000
      WHERE execution_id = ${execution_id}::uuid AND status IN ('running', 'waiting') RETURNING node_id, iteration`;
    const reached = await tx.nodeRun.findMany({ where: { execution_id }, distinct: "node_id", select: { node_id: true } });
    const known = new Set(reached.map((run) => run.node_id));
    const unreached = Graph.parse(graph).nodes.filter((node) => !known.has(node.id) && !definitionOf(node.type)?.isInert);
    const common = { execution_id, timestamp: now.toISOString() };
    const events = [
      ...under.map(({ node_id, iteration }) => ({ type: "node_skipped", node_id, ...(iteration && { iteration }), ...common })),
      ...unreached.map((node) => ({ type: "node_skipped", node_id: node.id, ...common })),
      { type: "execution_complete", status: "cancelled", output: null, duration_ms: now.getTime() - row.created_at.getTime(), ...common },
    ];
    await tx.executionEvent.deleteMany({ where: { execution_id, type: "node_delta" } });
    await tx.executionEvent.createMany({
      data: events.map((event, index) => ({
        execution_id,
        seq: row.last_seq + index + 1,
        type: event.type,
        node_id: "node_id" in event ? event.node_id : null,
        data: event,
      })),
    });
    const withdrawn = await tx.wait.updateManyAndReturn({
      where: { execution_id, status: "waiting" },
      data: { status: "withdrawn", resolved_at: now },
      select: { id: true },
    });
    await tx.notification.updateMany({
      where: { kind: "review", subject_id: { in: withdrawn.map(({ id }) => id) }, read_at: null },
      data: { read_at: now },
    });
    await tx.execution.update({
      where: { id: execution_id },
      data: {
        status: "cancelled",
        completed_at: now,
        lease_epoch: { increment: 1 },
        lease_until: null,
        run_at: null,
        wake: false,
        last_seq: row.last_seq + events.length,
      },
    });
    const { name } = await tx.workflow.findUniqueOrThrow({ where: { id: row.workflow_id }, select: { name: true } });
    const resource = { resource_type: "execution", resource_id: execution_id, resource_name: name };
    await recordAudit(principal, { action: "execution.cancel", ...resource, detail: { was: row.status } }, tx);
    await tx.$executeRaw`SELECT pg_notify('treadle_execution', ${execution_id}), pg_notify('treadle_control', ${execution_id})`;
  });
  await publishEvents([executionCancelled.create({ execution_id }, { id: `${execution_id}-cancelled` })]);
  return getExecution(principal, { execution_id });
}
