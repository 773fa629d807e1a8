import { pool } from "#server/platform/db/client.ts";
import { wakeRuns } from "#server/runs/use-cases/wake-run.ts";

/** How many reviews one sweep ends. */
const BATCH = 200;

/** The last word on a review is one conditional UPDATE: here, or in decide-review.ts. */
const expire = (which: string) => `
  WITH due AS (
    SELECT id FROM reviews WHERE status = 'waiting' AND due_at <= now() ${which}
  ), expired AS (
    UPDATE reviews r SET status = 'rejected', via = 'timeout', decided_at = now() FROM due WHERE r.id = due.id RETURNING r.id, r.execution_id
  ), seen AS (
    UPDATE notifications SET read_at = now() WHERE kind = 'review' AND subject_id IN (SELECT id FROM expired) AND read_at IS NULL
  )
  SELECT id, execution_id, pg_notify('treadle_control', execution_id::text) FROM expired`;

const ALL_DUE = expire(`ORDER BY due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`);
const ONE = expire("AND id = $1 FOR UPDATE");

/**
 * Rejects waiting reviews whose time is over, and tells their runs.
 * @param review_id only this one; left out, a batch of those that are due
 * @returns how many were rejected
 */
export async function expireReviews(review_id?: string): Promise<number> {
  const { rows } = await pool().query<{ id: string; execution_id: string }>(review_id ? ONE : ALL_DUE, review_id ? [review_id] : []);
  await wakeRuns(rows.map(({ id, execution_id }) => ({ execution_id, id: `${id}-decided` })));
  return rows.length;
}
