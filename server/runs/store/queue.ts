import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { dueIn, mustNotifyWorkers } from "#server/runs/local-worker.ts";
import { FINAL, IS_UNTAKEN, NOW, TELL_DUE } from "#server/runs/store/sql.ts";

// Executions as a queue: `run_at` says when somebody has to look at one next, `wake` that something has happened to one which is
// under way, `dispatch` which request to an Inngest server is the newest. Taking a lease and giving it back: leases.ts.

/** A run that is due, as an Inngest server is asked for it. */
type TakenRun = DueRun & { waits: boolean; segment: number };

/** A run that is due, and which request to an Inngest server is the newest. */
export interface DueRun {
  execution_id: string;
  project_id: string;
  dispatch: number;
}

/**
 * What makes a run due, as assignments to columns of `executions`. Of one that is under way, whoever executes it looks again before
 * it rests.
 * @param seconds in which it is due, as an expression
 */
export const becomesDue = (seconds: string): string => `wake = coalesce(lease_until > now(), false),
      run_at = CASE WHEN lease_until > now() THEN run_at ELSE least(run_at, ${NOW} + make_interval(secs => ${seconds})) END`;

/** The parameters of a statement that makes runs due: in how many seconds, and whether workers elsewhere are to be told. */
export const dueValues = (): [seconds: number, mustNotify: boolean] => [dueIn(), mustNotifyWorkers()];

// Locked in order, so that nobody who locks several waits for each other.
const ENQUEUE = `
  WITH run AS MATERIALIZED (
    SELECT id FROM executions WHERE id = ANY($1::uuid[]) AND status NOT IN ${FINAL} ORDER BY id FOR UPDATE
  ), enqueued AS (
    UPDATE executions e SET ${becomesDue("$2")} FROM run WHERE e.id = run.id RETURNING e.id, e.project_id, e.dispatch
  )
  SELECT id AS execution_id, project_id, dispatch, pg_notify('treadle_control', id::text), CASE WHEN $3::boolean THEN ${TELL_DUE} END
  FROM enqueued`;

/**
 * Has runs looked at that have not ended: something that they wait for has happened. To be followed by `dispatchRuns` when that
 * is committed.
 * @param on the pool, or a client within the transaction of what has happened
 */
export async function enqueueRuns(execution_ids: readonly string[], on: Pick<pg.Pool, "query"> = pool()): Promise<DueRun[]> {
  return (await on.query<DueRun>({ name: "run-enqueue", text: ENQUEUE, values: [execution_ids, ...dueValues()] })).rows;
}

/** How many runs one sweep asks an Inngest server for. */
const BATCH = 1000;

// Ten seconds after its start an execution that nobody has begun is asked for once more as it was: its process may have died
// between the row and the request, and where that did arrive, this changes nothing. Later a new request is made: the server
// would not take the same one twice, and may keep the first for a try in some minutes. One that waits there for people is woken
// once, and then requested. Whoever takes them makes them due again in ten seconds, so that nobody else takes them while they are asked for.
const TAKE = `
  WITH due AS (
    SELECT id, run_at <= created_at + interval '15 seconds' AND lease_epoch = 0 AND dispatch = 0 AS is_first, is_asleep AND NOT wake AS waits
    FROM executions WHERE run_at <= now() AND coalesce(lease_owner, '') <> ALL($1)
    ORDER BY run_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
  )
  UPDATE executions e SET dispatch = CASE WHEN is_first OR waits THEN dispatch ELSE dispatch + 1 END, wake = wake OR waits,
    run_at = now() + CASE WHEN waits THEN interval '2 minutes' ELSE interval '10 seconds' END
  FROM due WHERE e.id = due.id
  RETURNING e.id AS execution_id, e.project_id, e.dispatch, waits, e.lease_epoch AS segment`;

/**
 * Takes runs that are due, to ask an Inngest server for them.
 * @param held holders of leases under which this process executes runs itself
 * @returns `waits`: it waits there, and has only to be woken. `segment`: number of the segment after which it waits
 */
export async function takeDue(held: Iterable<string>): Promise<TakenRun[]> {
  return (await pool().query<TakenRun>(TAKE, [[...held]])).rows;
}

// A run that no request has claimed most likely waits in the server's queue, so its next request is later; but not after its first
// one, which the server may keep for a later try. The interval doubles with each request that has not claimed the run: a server that
// is behind would otherwise receive more requests the longer its queue is.
const REQUESTED = `
  UPDATE executions e SET run_at = now() + CASE
    WHEN e.dispatch = 0 AND lease_epoch = 0 THEN interval '50 seconds'
    WHEN lease_epoch = 0 THEN interval '10 minutes' * power(2, least(greatest(e.dispatch - 1, 0), 3))
    ELSE interval '2 minutes' * power(2, least(greatest(e.dispatch - claimed_dispatch - 1, 0), 5)) END
  FROM unnest($1::uuid[], $2::int[]) AS asked(id, dispatch)
  WHERE e.id = asked.id AND e.dispatch = asked.dispatch AND (lease_until IS NULL OR lease_until < now()) AND status NOT IN ${FINAL}`;

/** Takes note that an Inngest server has been asked for these runs: they are given time before it is asked again. */
export async function noteRequested(runs: readonly DueRun[]): Promise<void> {
  await pool().query(REQUESTED, [runs.map(({ execution_id }) => execution_id), runs.map(({ dispatch }) => dispatch)]);
}

/**
 * Makes `dispatch` the request that acts for an unfinished run.
 * @returns false when a newer one does, or the run has ended
 */
export async function setDispatch({ execution_id, dispatch }: DueRun): Promise<boolean> {
  const { rowCount } = await pool().query(
    `UPDATE executions SET dispatch = $2, run_at = now() + interval '10 seconds'
     WHERE id = $1 AND dispatch <= $2 AND status NOT IN ${FINAL}`,
    [execution_id, dispatch],
  );
  return rowCount === 1;
}

/**
 * Makes the next sweep request every run anew that has not begun, is due, or has not acted on the end of a wait. For a process that
 * starts: while no process answered, an Inngest server has put its tries off for minutes, and ignores a request that it knows.
 */
export async function requestAnew(): Promise<void> {
  await pool().query(
    `UPDATE executions e SET dispatch = dispatch + 1, run_at = ${NOW}, is_asleep = false
     WHERE status NOT IN ${FINAL} AND (lease_until IS NULL OR lease_until <= now()) AND id IN (
       SELECT id FROM executions WHERE run_at IS NOT NULL AND (lease_epoch = 0 OR run_at <= now())
       UNION ALL SELECT execution_id FROM waits w WHERE ${IS_UNTAKEN})`,
  );
}
