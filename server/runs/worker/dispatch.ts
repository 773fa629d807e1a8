import type pg from "pg";
import { executionRequested, executionWake } from "#server/events/events.ts";
import { sendEvents } from "#server/events/send-events.ts";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { dueIn, localWorker, mustNotifyWorkers } from "#server/runs/local-worker.ts";
import { FINAL, NOW, TELL_DUE } from "#server/runs/store/statements.ts";

/** A run that is due, and which request to an Inngest server is the newest. */
export interface DueRun {
  execution_id: string;
  project_id: string;
  dispatch: number;
}

// Of one that is carried, whoever carries it is told, and looks again before it rests.
const ENQUEUE = `
  WITH enqueued AS (
    UPDATE executions SET wake = coalesce(lease_until > now(), false),
      run_at = CASE WHEN lease_until > now() THEN run_at ELSE least(run_at, ${NOW} + make_interval(secs => $2)) END
    WHERE id = ANY($1::uuid[]) AND status NOT IN ${FINAL} RETURNING id, project_id, dispatch
  )
  SELECT id AS execution_id, project_id, dispatch, pg_notify('treadle_control', id::text), CASE WHEN $3::boolean THEN ${TELL_DUE} END
  FROM enqueued`;

/**
 * Has runs looked at that have not ended: something that they wait for has happened. To be followed by `dispatchRuns` when that
 * is committed.
 * @param on the pool, or a client within the transaction of what has happened
 */
export async function enqueueRuns(execution_ids: readonly string[], on: Pick<pg.Pool, "query"> = pool()): Promise<DueRun[]> {
  const values = [execution_ids, dueIn(), mustNotifyWorkers()];
  return (await on.query<DueRun>({ name: "run-enqueue", text: ENQUEUE, values })).rows;
}

const requested = (data: DueRun) => executionRequested.create(data, { id: `${data.execution_id}-${data.dispatch}` });

/**
 * Asks an Inngest server to carry runs on. The events' ids make a repeated request harmless.
 * @returns whether it was sent, in seconds where a server does not answer; never throws
 */
export const requestRuns = (runs: readonly DueRun[]): Promise<boolean> => sendEvents(runs.map(requested));

/**
 * Tells whatever carries runs that these are due. Nothing is lost when that fails: their rows say so too, and are looked at every
 * few seconds.
 * @param wakeId of the event that tells an Inngest server that something has happened to the one run that waits there
 * @returns whether an Inngest server has taken it, in two seconds or soon after; never throws
 */
export async function dispatchRuns(runs: readonly DueRun[], wakeId?: string): Promise<boolean> {
  if (!isEmbeddedExecutor()) {
    const data = runs[0]?.execution_id;
    return wakeId && data ? sendEvents([executionWake.create({ execution_id: data }, { id: wakeId })]) : requestRuns(runs);
  }
  if (runs.length) localWorker(pool())?.poke();
  return true;
}

/** Has runs looked at that wait for something that has happened. @param wakes each with the id of the event for an Inngest server: the same one again counts once */
export async function wakeRuns(wakes: readonly { execution_id: string; id: string }[]): Promise<void> {
  if (!wakes.length) return;
  await enqueueRuns(wakes.map(({ execution_id }) => execution_id));
  for (const { execution_id, id } of wakes) void dispatchRuns([{ execution_id, project_id: "", dispatch: 0 }], id);
}

// One that no request has been answered for yet most likely waits for its turn behind others, so it is left longer; but not
// after its first request, which may be one that the executor keeps for a later try.
const ASKED = `
  UPDATE executions e SET run_at = now() + CASE
    WHEN e.dispatch = 0 AND lease_epoch = 0 THEN interval '50 seconds'
    WHEN lease_epoch = 0 THEN interval '10 minutes'
    ELSE interval '2 minutes' END
  FROM unnest($1::uuid[], $2::int[]) AS asked(id, dispatch)
  WHERE e.id = asked.id AND e.dispatch = asked.dispatch AND (lease_until IS NULL OR lease_until < now()) AND status NOT IN ${FINAL}`;

/**
 * Asks for executions whose rows say that they are soon overdue again, since this process may die before it has asked, and
 * gives them more time when that has worked.
 * @returns false when the executor could not be reached
 */
export async function requestDue(runs: readonly DueRun[]): Promise<boolean> {
  if (!(await requestRuns(runs))) return false;
  await pool().query(ASKED, [runs.map(({ execution_id }) => execution_id), runs.map(({ dispatch }) => dispatch)]);
  return true;
}

/**
 * Makes `dispatch` the one that acts for an unfinished execution and asks for it; older ones end at their next look.
 * Called again with the same number it changes nothing and only asks again.
 * @returns false when the executor could not be reached; the execution is soon overdue again
 */
export async function redispatch(data: DueRun): Promise<boolean> {
  const { rowCount } = await pool().query(
    `UPDATE executions SET dispatch = $2, run_at = now() + interval '10 seconds'
     WHERE id = $1 AND dispatch <= $2 AND status NOT IN ${FINAL}`,
    [data.execution_id, data.dispatch],
  );
  return rowCount ? requestDue([data]) : true;
}
