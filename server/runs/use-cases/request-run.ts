import type pg from "pg";
import { executionRequested, executionWake } from "#server/jobs/events.ts";
import { sendEvents } from "#server/jobs/send-events.ts";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { FINAL, NOW, TELL_DUE } from "#server/runs/store/statements.ts";
import { dueIn, engineHere, mustTellWorkers } from "#server/runs/use-cases/engine-here.ts";

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
 * Has runs looked at that have not ended: something that they wait for has happened. To be followed by `tellCarriers` when that
 * is committed.
 * @param on the pool, or a client within the transaction of what has happened
 */
export async function enqueueRuns(execution_ids: readonly string[], on: Pick<pg.Pool, "query"> = pool()): Promise<DueRun[]> {
  const values = [execution_ids, dueIn(), mustTellWorkers()];
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
export async function tellCarriers(runs: readonly DueRun[], wakeId?: string): Promise<boolean> {
  if (!isEmbeddedExecutor()) {
    const data = runs[0]?.execution_id;
    return wakeId && data ? sendEvents([executionWake.create({ execution_id: data }, { id: wakeId })]) : requestRuns(runs);
  }
  if (runs.length) engineHere(pool())?.poke();
  return true;
}
