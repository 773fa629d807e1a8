import { randomUUID } from "node:crypto";
import { pool } from "#server/platform/db/client.ts";
import { askFor } from "#server/runs/store/redispatch.ts";
import { FINAL } from "#server/runs/store/statements.ts";
import type { RunRequest } from "#server/runs/use-cases/request-run.ts";
import { wakeRuns } from "#server/runs/use-cases/wake-run.ts";
import { announceReviews } from "#server/runs/waits/announce-reviews.ts";
import { expireReviews } from "#server/runs/waits/expire-reviews.ts";

/** How many reviews each part of a sweep takes on. */
const BATCH = 200;

// Asked for again at doubling distance: after 3 s, then each time when as long again has passed as until the last time.
// What the run can no longer take, because it has ended, is closed here, so that the next sweep need not look at it.
const UNTAKEN = `
  WITH untaken AS (
    SELECT r.id, e.status IN ${FINAL} AS is_over
    FROM reviews r JOIN executions e ON e.id = r.execution_id
    WHERE r.status IN ('approved', 'rejected') AND r.taken_at IS NULL AND r.decided_at < now() - interval '3 seconds'
      AND (r.woken_at IS NULL OR now() - r.woken_at > r.woken_at - r.decided_at)
      AND (e.status IN ${FINAL} OR e.lease_until IS NULL OR e.lease_until < now())
    ORDER BY r.decided_at LIMIT ${BATCH} FOR UPDATE OF r SKIP LOCKED
  )
  UPDATE reviews r SET woken_at = now(), taken_at = CASE WHEN untaken.is_over THEN now() END
  FROM untaken WHERE r.id = untaken.id
  RETURNING r.execution_id, untaken.is_over, r.decided_at < now() - interval '2 minutes' AS is_late`;

const UNTOLD = `
  SELECT id FROM reviews WHERE status = 'waiting' AND notified_at IS NULL AND created_at < now() - interval '10 seconds'
  ORDER BY created_at LIMIT ${BATCH}`;

const ANEW = `
  UPDATE executions SET dispatch = dispatch + 1, overdue_at = now() + interval '10 seconds'
  WHERE id = ANY($1::uuid[]) AND status NOT IN ${FINAL} RETURNING id AS execution_id, project_id, dispatch`;

interface Untaken {
  execution_id: string;
  is_over: boolean;
  is_late: boolean;
}

/**
 * Looks after reviews: rejects those whose time is over, wakes runs again that have not taken a decision (one that still
 * sleeps after two minutes is asked for as a new dispatch), and has people told of reviews that nobody was told of.
 * @returns how many runs were asked for again
 */
export async function sweepReviews(): Promise<number> {
  await expireReviews();
  const { rows } = await pool().query<Untaken>(UNTAKEN);
  const asleep = [...new Map(rows.filter((row) => !row.is_over).map((row) => [row.execution_id, row])).values()];
  await wakeRuns(asleep.map(({ execution_id }) => ({ execution_id, id: `${execution_id}-${randomUUID()}` })));
  const late = asleep.filter((row) => row.is_late).map(({ execution_id }) => execution_id);
  if (late.length) await askFor((await pool().query<RunRequest>(ANEW, [late])).rows);
  const untold = await pool().query<{ id: string }>(UNTOLD);
  await announceReviews(untold.rows.map(({ id }) => id));
  return asleep.length;
}
