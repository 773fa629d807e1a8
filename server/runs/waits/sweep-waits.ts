import { randomUUID } from "node:crypto";
import { reviewOpened } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { expiring, FINAL } from "#server/runs/store/statements.ts";
import { type DueRun, requestDue, wakeRuns } from "#server/runs/worker/dispatch.ts";

/** How many waits each part of a sweep takes on. */
const BATCH = 200;

const TOLD = "SELECT id, execution_id, pg_notify('treadle_control', execution_id::text) FROM expired";
const ALL_DUE = `${expiring(`deadline <= now() ORDER BY deadline LIMIT ${BATCH} FOR UPDATE SKIP LOCKED`)} ${TOLD}`;
const ONE = `${expiring("deadline <= now() AND id = $1 FOR UPDATE")} ${TOLD}`;

// Asked for again at doubling distance: after 3 s, then each time when as long again has passed as until the last time.
// What the run can no longer take, because it is over, is closed here, so that the next sweep need not look at it.
const UNTAKEN = `
  WITH untaken AS (
    SELECT w.id, e.status IN ${FINAL} AS is_over
    FROM waits w JOIN executions e ON e.id = w.execution_id
    WHERE w.status IN ('resolved', 'expired') AND w.taken_at IS NULL AND w.resolved_at < now() - interval '3 seconds'
      AND (w.woken_at IS NULL OR now() - w.woken_at > w.woken_at - w.resolved_at)
      AND (e.status IN ${FINAL} OR e.lease_until IS NULL OR e.lease_until < now())
    ORDER BY w.resolved_at LIMIT ${BATCH} FOR UPDATE OF w SKIP LOCKED
  )
  UPDATE waits w SET woken_at = now(), taken_at = CASE WHEN untaken.is_over THEN now() END
  FROM untaken WHERE w.id = untaken.id
  RETURNING w.execution_id, untaken.is_over, w.resolved_at < now() - interval '2 minutes' AS is_late`;

const UNTOLD = `
  SELECT id FROM waits
  WHERE reason = 'review' AND status = 'waiting' AND notified_at IS NULL AND created_at < now() - interval '10 seconds'
  ORDER BY created_at LIMIT ${BATCH}`;

const ANEW = `
  UPDATE executions SET dispatch = dispatch + 1, run_at = now() + interval '10 seconds'
  WHERE id = ANY($1::uuid[]) AND status NOT IN ${FINAL} RETURNING id AS execution_id, project_id, dispatch`;

interface Untaken {
  execution_id: string;
  is_over: boolean;
  is_late: boolean;
}

/** Tells the runs of waits that have just ended; the same wait again counts once. */
export const wakeEnded = (waits: readonly { id: string; execution_id: string }[]): Promise<void> =>
  wakeRuns(waits.map(({ id, execution_id }) => ({ execution_id, id: `${id}-decided` })));

/** Tells runs once more, whatever they were told before. */
const wakeAgain = (execution_ids: readonly string[]): Promise<void> =>
  wakeRuns(execution_ids.map((execution_id) => ({ execution_id, id: `${execution_id}-${randomUUID()}` })));

/**
 * Sends the wake again when a wait has ended and the run has not taken that. To be called when it is stored that the run waits:
 * a wake that was sent before found nobody.
 */
export async function wakeIfEnded(execution_id: string): Promise<void> {
  const { rowCount } = await pool().query({
    name: "waits-untaken",
    text: "SELECT FROM waits WHERE execution_id = $1 AND status IN ('resolved', 'expired') AND taken_at IS NULL LIMIT 1",
    values: [execution_id],
  });
  if (rowCount) await wakeAgain([execution_id]);
}

/**
 * Ends waits whose deadline has passed, and tells their runs.
 * @param wait_id only this one; left out, a batch of those that are due
 */
export async function expireWaits(wait_id?: string): Promise<void> {
  const { rows } = await pool().query<{ id: string; execution_id: string }>(wait_id ? ONE : ALL_DUE, wait_id ? [wait_id] : []);
  await wakeEnded(rows);
}

/**
 * Looks after waits: ends those whose deadline has passed, wakes runs again that have not taken the end of one (a run that still
 * sleeps after two minutes is asked for as a new dispatch), and has people told of reviews that nobody was told of.
 * @returns how many runs were asked for again
 */
export async function sweepWaits(): Promise<number> {
  await expireWaits();
  const { rows } = await pool().query<Untaken>(UNTAKEN);
  const asleep = [...new Map(rows.filter((row) => !row.is_over).map((row) => [row.execution_id, row])).values()];
  await wakeAgain(asleep.map(({ execution_id }) => execution_id));
  const late = asleep.filter((row) => row.is_late).map(({ execution_id }) => execution_id);
  if (late.length && !isEmbeddedExecutor()) await requestDue((await pool().query<DueRun>(ANEW, [late])).rows);
  const untold = await pool().query<{ id: string }>(UNTOLD);
  await announceReviews(untold.rows.map(({ id }) => id));
  return asleep.length;
}

/**
 * Asks for the people who can decide these reviews to be told. The events' ids make a repeat harmless. What cannot be sent
 * is not an error of the caller: the sweeper asks again for reviews of which nobody was told.
 */
export const announceReviews = (review_ids: readonly string[]): Promise<void> =>
  publishEvents(review_ids.map((review_id) => reviewOpened.create({ review_id }, { id: `${review_id}-opened` })));
