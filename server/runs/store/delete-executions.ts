import type pg from "pg";
import { inTransaction } from "#server/platform/db/client.ts";
import { COUNTS_LOCK } from "#server/runs/store/count-older-executions.ts";
import { FINAL } from "#server/runs/store/sql.ts";

/** How many executions go in one transaction. */
export const BATCH = 500;
/** A transaction that took longer makes the next one smaller: an execution may hold thousands of rows. */
const LONG_MS = 2000;

// Their rows follow by foreign keys and a trigger (decision 37); a rerun of one only forgets what it repeated. What was counted ahead is taken back
// from its piece: the newest piece stays even when it is empty, as it says until when was counted. A run that another one still
// waits for stays: its wait has its id, and would start it anew.
const deleting = (which: string) => `
  WITH doomed AS MATERIALIZED (
    SELECT id FROM executions WHERE project_id = $1::uuid AND status IN ${FINAL}
      AND NOT EXISTS (SELECT FROM waits w WHERE w.id = executions.id AND w.reason = 'child' AND w.status = 'waiting') AND ${which}
  ), gone AS (
    DELETE FROM executions e USING doomed WHERE e.id = doomed.id RETURNING e.id, e.workflow_id, e.status, e.created_at
  ), opened AS (
    DELETE FROM execution_open o USING gone WHERE o.execution_id = gone.id RETURNING o.execution_id
  ), sums AS (
    SELECT c.since, c.workflow_id, c.status, count(*)::int AS count
    FROM gone JOIN execution_counts c ON c.project_id = $1::uuid AND c.workflow_id = gone.workflow_id
      AND gone.created_at >= c.since AND gone.created_at < c.until
      AND c.status = CASE WHEN gone.id IN (SELECT execution_id FROM opened) THEN 'running' ELSE gone.status END
    GROUP BY c.since, c.workflow_id, c.status
  ), marked AS (
    -- Also those that are marked already: whoever adds one up just now has locked it, and does not know of this.
    UPDATE reading_hours h SET is_fresh = false
    FROM (SELECT DISTINCT v.reading_id, date_trunc('hour', v.completed_at, 'UTC') AS hour FROM gone JOIN reading_values v ON v.execution_id = gone.id) AS own
    WHERE h.reading_id = own.reading_id AND h.hour = own.hour
  ), taken AS (
    UPDATE execution_counts c SET count = c.count - sums.count FROM sums
    WHERE c.project_id = $1::uuid AND c.since = sums.since AND c.workflow_id = sums.workflow_id AND c.status = sums.status
  )
  SELECT count(*)::int AS deleted FROM gone`;
const DELETE_OLD = deleting(
  "created_at < $2::timestamptz AND coalesce(completed_at, created_at) < $2::timestamptz ORDER BY created_at LIMIT $3",
);
const DELETE_THESE = deleting("id = ANY($2::uuid[])");

const DROP_EMPTY = `
  DELETE FROM execution_counts WHERE project_id = $1::uuid AND count = 0
    AND since < (SELECT max(since) FROM execution_counts WHERE project_id = $1::uuid)`;

async function deleteOn(client: pg.PoolClient, project_id: string, sql: string, values: unknown[]): Promise<number> {
  await client.query(COUNTS_LOCK, [project_id]);
  const { rows } = await client.query<{ deleted: number }>(sql, [project_id, ...values]);
  await client.query(DROP_EMPTY, [project_id]);
  return rows[0]?.deleted ?? 0;
}

const deleteBatch = (project_id: string, before: Date, limit: number): Promise<number> =>
  inTransaction((client) => deleteOn(client, project_id, DELETE_OLD, [before, limit]));

/**
 * Deletes those of these executions that have ended, with all their rows.
 * @param client within a transaction
 * @returns how many went
 */
export const deleteTheseExecutions = (client: pg.PoolClient, project_id: string, ids: readonly string[]): Promise<number> =>
  deleteOn(client, project_id, DELETE_THESE, [ids]);

/**
 * Deletes a project's executions that ended before a time, oldest first, with all their rows, in small transactions. One
 * that has not ended is never touched.
 * @param goOn asked before each transaction
 * @returns how many went, and whether that was all
 */
export async function deleteExecutions(
  project_id: string,
  before: Date,
  goOn: () => boolean,
): Promise<{ deleted: number; isDone: boolean }> {
  let deleted = 0;
  for (let limit = BATCH; goOn(); ) {
    const began = performance.now();
    const count = await deleteBatch(project_id, before, limit);
    deleted += count;
    if (count < limit) return { deleted, isDone: true };
    if (performance.now() - began > LONG_MS) limit = Math.max(10, Math.floor(limit / 2));
  }
  return { deleted, isDone: false };
}
