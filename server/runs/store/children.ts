import { db, pool } from "#server/platform/db/client.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import { FINAL } from "#server/runs/store/sql.ts";
import type { ChildRequest } from "#server/workflow/nodes/definition.ts";
import type { ChildEnd } from "#server/workflow/nodes/workflow-node.ts";

// Runs that nodes of other runs have started. Such a run has the id of the wait that it ends, so that it is started once, whoever
// starts it and however often.

/** A wait for a run that is to be started. */
export interface WantedChild {
  project_id: string;
  /** The run whose node waits. */
  parent_id: string;
  node_id: string;
  /** How deep that run is: 1 when no other has started it. */
  depth: number;
  started_by_id: string | null;
  request: ChildRequest;
}

/** What a wait is for, or undefined when nobody waits any more. */
export async function wantedChild(wait_id: string): Promise<WantedChild | undefined> {
  const { rows } = await pool().query<WantedChild>(
    `SELECT e.project_id, e.id AS parent_id, w.node_id, e.depth, e.started_by_id, w.request
     FROM waits w JOIN executions e ON e.id = w.execution_id
     WHERE w.id = $1 AND w.reason = 'child' AND w.status = 'waiting' AND e.status NOT IN ${FINAL}`,
    [wait_id],
  );
  return rows[0];
}

/** How a run has ended that another one waits for; undefined when it has not, or nobody does. */
export async function childEnd(id: string): Promise<ChildEnd | undefined> {
  const { rows } = await pool().query<ChildEnd & { status: ExecutionStatus }>(
    `SELECT e.status, v.output, e.error FROM executions e JOIN execution_values v ON v.execution_id = e.id
     JOIN waits w ON w.id = e.id WHERE e.id = $1 AND e.status IN ${FINAL} AND w.reason = 'child' AND w.status = 'waiting'`,
    [id],
  );
  return rows[0];
}

/** Ids of the runs under way that a run's nodes have started. */
export async function childrenUnderWay(parent_id: string): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(`SELECT id FROM executions WHERE parent_id = $1 AND status NOT IN ${FINAL}`, [
    parent_id,
  ]);
  return rows.map(({ id }) => id);
}

/** True when nobody waits for a run any more that another one has started. */
export async function isOrphan(id: string): Promise<boolean> {
  return (await orphans(id)).length > 0;
}

const SOME = 200;

/** Runs under way for which nobody waits any more: all of them, or this one if it is. */
export async function orphans(id: string | null = null): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(
    `SELECT e.id FROM executions e JOIN waits w ON w.id = e.id
     WHERE e.parent_id IS NOT NULL AND e.completed_at IS NULL AND w.status <> 'waiting' AND ($1::uuid IS NULL OR e.id = $1) LIMIT ${SOME}`,
    [id],
  );
  return rows.map((row) => row.id);
}

/** Waits for runs of which nobody has taken care for a few seconds: those that were never started, and those that have ended. */
export async function neglected(): Promise<{ id: string; is_started: boolean }[]> {
  const { rows } = await pool().query<{ id: string; is_started: boolean }>(
    `SELECT w.id, e.id IS NOT NULL AS is_started FROM waits w LEFT JOIN executions e ON e.id = w.id
     WHERE w.reason = 'child' AND w.status = 'waiting' AND w.created_at < now() - interval '3 seconds'
       AND (e.id IS NULL OR (e.status IN ${FINAL} AND e.completed_at < now() - interval '3 seconds'))
     ORDER BY w.id LIMIT ${SOME}`,
  );
  return rows;
}

/** The project of a run. */
export const projectOf = async (id: string): Promise<string | undefined> =>
  (await db().execution.findUnique({ where: { id }, select: { project_id: true } }))?.project_id;
