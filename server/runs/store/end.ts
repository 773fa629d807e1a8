import type { Prisma } from "#prisma/generated/client.ts";
import { logRunEnd } from "#server/runs/log-run-end.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { Graph } from "#server/workflow/schema.ts";

// Ends of runs that no executor writes: cancelled ones, alone or with their project. An executor ends a run with its last
// results: `commit`.

// The rows of the runs $1 are locked before, in a statement of its own: so a commit of whoever executes one is either before this
// or after, and nothing of it is missed. The lease is taken away: whoever has it can write nothing more, and is told. Nodes $2 are
// told of as skipped where they were not reached.
const CANCEL = `
  WITH closed AS (
    UPDATE node_runs SET status = 'skipped', completed_at = $3::timestamptz, duration_ms = extract(epoch FROM $3::timestamptz - started_at) * 1000
    WHERE execution_id = ANY($1::uuid[]) AND status IN ('running', 'waiting') RETURNING execution_id, node_id, iteration
  ), told AS (
    SELECT execution_id, 0 AS place, node_id, jsonb_build_object('type', 'node_skipped', 'node_id', node_id)
      || CASE WHEN iteration = '' THEN '{}' ELSE jsonb_build_object('iteration', iteration) END AS event
    FROM closed
    UNION ALL
    SELECT run.id, node.place, node.id, jsonb_build_object('type', 'node_skipped', 'node_id', node.id)
    FROM unnest($1::uuid[]) AS run(id), unnest($2::text[]) WITH ORDINALITY AS node(id, place)
    WHERE NOT EXISTS (SELECT FROM node_runs r WHERE r.execution_id = run.id AND r.node_id = node.id)
    UNION ALL
    SELECT id, 2147483647, NULL, jsonb_build_object('type', 'execution_complete', 'status', 'cancelled', 'output', NULL,
      'duration_ms', round(extract(epoch FROM $3::timestamptz - created_at) * 1000)::bigint)
    FROM executions WHERE id = ANY($1::uuid[])
  ), cancelled AS (
    UPDATE executions e SET status = 'cancelled', completed_at = $3::timestamptz, lease_epoch = lease_epoch + 1, lease_until = NULL,
      run_at = NULL, wake = false, last_seq = last_seq + own.events
    FROM (SELECT execution_id, count(*)::int AS events FROM told GROUP BY execution_id) AS own WHERE e.id = own.execution_id
    RETURNING e.id, e.last_seq - own.events AS seq, e.workflow_id, e.cost::float8 AS cost,
      round(extract(epoch FROM $3::timestamptz - e.created_at) * 1000)::float8 AS duration_ms
  ), written AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT c.id, c.seq + row_number() OVER (PARTITION BY c.id ORDER BY told.place), told.event->>'type', told.node_id,
      told.event || jsonb_build_object('execution_id', c.id, 'timestamp', $4::text)
    FROM cancelled c JOIN told ON told.execution_id = c.id
  ), dropped AS (
    DELETE FROM execution_events USING cancelled c WHERE execution_id = c.id AND type = 'node_delta'
  ), withdrawn AS (
    UPDATE waits w SET status = 'withdrawn', resolved_at = $3::timestamptz FROM cancelled c
    WHERE w.execution_id = c.id AND w.status = 'waiting' RETURNING w.id
  ), seen AS (
    UPDATE notifications SET read_at = $3::timestamptz WHERE kind = 'review' AND subject_id IN (SELECT id FROM withdrawn) AND read_at IS NULL
  )
  SELECT id AS execution_id, workflow_id, duration_ms, cost,
    pg_notify('treadle_execution', id::text)::text AS told, pg_notify('treadle_control', id::text)::text AS ended FROM cancelled`;

interface CancelledRun {
  execution_id: string;
  workflow_id: string;
  duration_ms: number;
  cost: number;
}

const reachableNodes = (graph: unknown): string[] =>
  Graph.parse(graph).nodes.flatMap(({ id, type }) => (definitionOf(type)?.isInert ? [] : [id]));

async function cancel(within: Prisma.TransactionClient, ids: readonly string[], nodes: readonly string[]): Promise<void> {
  const now = new Date();
  if (!ids.length) return;
  const cancelled = await within.$queryRawUnsafe<CancelledRun[]>(CANCEL, ids, nodes, now, now.toISOString());
  // Those that wait for one of them are to be told; a statement of its own, because such a wait may have been withdrawn just now.
  await within.$executeRawUnsafe("UPDATE waits SET notified_at = NULL WHERE id = ANY($1::uuid[]) AND reason = 'child'", ids);
  for (const { execution_id, workflow_id, duration_ms, cost } of cancelled)
    logRunEnd({ execution_id, workflow_id, status: "cancelled", duration_ms, cost });
}

/**
 * Ends a run that has not ended, within a transaction; viewers are told of every node that is not reached any more.
 * @returns what it was until then, which may be an end of its own; undefined when the project has no such run
 */
export async function cancelRun(
  within: Prisma.TransactionClient,
  { project_id, execution_id }: { project_id: string; execution_id: string },
): Promise<{ was: ExecutionStatus; workflow_name: string } | undefined> {
  const [run] = await within.$queryRaw<{ was: ExecutionStatus; graph: unknown; workflow_name: string }[]>`
    SELECT e.status AS was, s.graph, w.name AS workflow_name
    FROM executions e JOIN workflow_snapshots s ON s.id = e.snapshot_id JOIN workflows w ON w.id = e.workflow_id
    WHERE e.id = ${execution_id}::uuid AND e.project_id = ${project_id}::uuid FOR UPDATE OF e`;
  if (!run) return undefined;
  const { graph, ...known } = run;
  if (!isFinal(run.was)) {
    await cancel(within, [execution_id], reachableNodes(graph));
  }
  return known;
}

/** Most runs of a workflow that one transaction ends. */
const MAX_CANCELLED = 500;

/**
 * Ends runs of a workflow that have not ended, at most 500, within a transaction; subscribers are told of every node not reached.
 * @returns their ids; none when all have ended
 */
export async function cancelRunsOfWorkflow(within: Prisma.TransactionClient, workflow_id: string): Promise<string[]> {
  const runs = await within.$queryRaw<{ id: string; snapshot_id: string }[]>`
    SELECT id, snapshot_id
    FROM executions
    WHERE workflow_id = ${workflow_id}::uuid AND status IN ('pending', 'queued', 'running', 'paused')
    ORDER BY id
    LIMIT ${MAX_CANCELLED}
    FOR UPDATE`;
  for (const [id, alike] of Map.groupBy(runs, ({ snapshot_id }) => snapshot_id)) {
    const { graph } = await within.workflowSnapshot.findUniqueOrThrow({ where: { id }, select: { graph: true } });
    await cancel(
      within,
      alike.map((run) => run.id),
      reachableNodes(graph),
    );
  }
  return runs.map(({ id }) => id);
}

/**
 * Ends every run of a project that has not ended, within a transaction. Of nodes that were not reached nobody is told: nobody can
 * look at these runs any more.
 * @returns their ids
 */
export async function cancelRunsOf(within: Prisma.TransactionClient, project_id: string): Promise<string[]> {
  const runs = await within.$queryRaw<{ id: string }[]>`
    SELECT id FROM executions WHERE project_id = ${project_id}::uuid AND status IN ('pending', 'queued', 'running', 'paused') ORDER BY id FOR UPDATE`;
  const ids = runs.map(({ id }) => id);
  await cancel(within, ids, []);
  return ids;
}
