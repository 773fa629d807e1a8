import { db, pool } from "#server/platform/db/client.ts";
import { finds } from "#server/platform/db/sweep.ts";
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
  assistant_message_id: string | null;
  request: ChildRequest;
}

/** What a wait is for, or undefined when nobody waits any more. */
export async function wantedChild(wait_id: string): Promise<WantedChild | undefined> {
  const { rows } = await pool().query<WantedChild>(
    `SELECT e.project_id, e.id AS parent_id, w.node_id, e.depth, e.started_by_id, e.assistant_message_id, w.request
     FROM waits w JOIN executions e ON e.id = w.execution_id
     WHERE w.id = $1 AND w.reason = 'child' AND w.status = 'waiting' AND e.status NOT IN ${FINAL}`,
    [wait_id],
  );
  return rows[0];
}

// At the topmost run, so that what starts more than it was started by is bounded too; a run that is there has been counted.
const COUNT = `
  WITH RECURSIVE up AS (
    SELECT id, parent_id FROM executions WHERE id = $1
    UNION ALL SELECT e.id, e.parent_id FROM executions e JOIN up ON e.id = up.parent_id
  ), known AS (SELECT FROM executions WHERE id = $2
  ), counted AS (
    UPDATE executions e SET runs_started = e.runs_started + 1 FROM up
    WHERE e.id = up.id AND up.parent_id IS NULL AND e.runs_started < $3 AND NOT EXISTS (SELECT FROM known) RETURNING e.id
  )
  SELECT EXISTS (SELECT FROM counted UNION ALL SELECT FROM known) AS may`;

/**
 * Counts a run that is to be started among those which the topmost run of its kin has brought about.
 * @returns false when there are `most` already
 */
export async function countChild(id: string, parent_id: string, most: number): Promise<boolean> {
  const { rows } = await pool().query<{ may: boolean }>({ name: "child-count", text: COUNT, values: [parent_id, id, most] });
  return rows[0]?.may ?? false;
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

/**
 * Takes note that the run which a wait is for is under way; its end is a reason to look at the wait again.
 * @returns false when nobody waits for it any more
 */
export async function noteUnderWay(id: string): Promise<boolean> {
  const { rows } = await pool().query<{ is_wanted: boolean }>(
    // Its row is locked first: whoever ends it now does so before this or after.
    `WITH child AS MATERIALIZED (SELECT id FROM executions WHERE id = $1 AND completed_at IS NULL FOR UPDATE)
     UPDATE waits w SET notified_at = now() FROM child WHERE w.id = child.id RETURNING w.status = 'waiting' AS is_wanted`,
    [id],
  );
  return rows[0]?.is_wanted ?? true;
}

// Whoever sweeps looks again and again, and most waits are for runs that take long: `notified_at` leads past all of these.

const SOME = 200;

const ORPHANS = `FROM waits w JOIN executions e ON e.id = w.id
  WHERE w.reason = 'child' AND w.status IN ('resolved', 'expired', 'withdrawn') AND w.notified_at IS NOT NULL AND e.completed_at IS NULL`;

/** Runs under way for which nobody waits any more. */
export async function orphans(): Promise<string[]> {
  const { rows } = await pool().query<{ id: string }>(`SELECT e.id ${ORPHANS} LIMIT ${SOME}`);
  return rows.map((row) => row.id);
}

const IS_NEGLECTED =
  "w.reason = 'child' AND w.status = 'waiting' AND w.notified_at IS NULL AND w.created_at < now() - interval '3 seconds'";

/** Whether `orphans` or `neglected` may find any; see `Sweep`. */
export const MAY_BE_NEGLECTED = finds(`SELECT FROM waits w WHERE ${IS_NEGLECTED}`, `SELECT ${ORPHANS}`);

/**
 * Waits for runs of which nobody has taken care for a few seconds.
 * @returns `run`: whether the run was never started, is under way without that being noted, or has ended without that being told
 */
export async function neglected(): Promise<{ id: string; run: "missing" | "open" | "ended" }[]> {
  const { rows } = await pool().query<{ id: string; run: "missing" | "open" | "ended" }>(
    `SELECT w.id, CASE WHEN e.id IS NULL THEN 'missing' WHEN e.completed_at IS NULL THEN 'open' ELSE 'ended' END AS run
     FROM waits w LEFT JOIN executions e ON e.id = w.id
     WHERE ${IS_NEGLECTED} ORDER BY w.created_at LIMIT ${SOME}`,
  );
  return rows;
}

/** The project of a run. */
export const projectOf = async (id: string): Promise<string | undefined> =>
  (await db().execution.findUnique({ where: { id }, select: { project_id: true } }))?.project_id;
