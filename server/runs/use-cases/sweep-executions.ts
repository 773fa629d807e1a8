import { executionWake } from "#server/events/events.ts";
import { sendEvents } from "#server/events/send-events.ts";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { localWorker } from "#server/runs/local-worker.ts";
import { FINAL, NOW } from "#server/runs/store/statements.ts";
import { sweepWaits } from "#server/runs/waits/sweep-waits.ts";
import { type DueRun, requestDue } from "#server/runs/worker/dispatch.ts";

/** How many executions one sweep takes on, and how many it asks for at once. */
const BATCH = 1000;
const TOGETHER = 100;

// Ten seconds after its start an execution that nobody has carried is asked for once more as it was: its process may have died
// between the row and the request, and where that did arrive, this changes nothing. Later a new request is made: the server
// would not take the same one twice, and may keep the first for a try in some minutes. One that waits there for people is woken
// first. Whoever takes them makes them due again in ten seconds, so that nobody else takes them while they are asked for.
const TAKE = `
  WITH due AS (
    SELECT id, run_at <= created_at + interval '15 seconds' AND lease_epoch = 0 AND dispatch = 0 AS is_first, status = 'paused' AND NOT wake AS waits
    FROM executions WHERE run_at <= now() AND coalesce(lease_owner, '') <> ALL($1)
    ORDER BY run_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
  )
  UPDATE executions e SET dispatch = CASE WHEN is_first OR waits THEN dispatch ELSE dispatch + 1 END, wake = waits,
    run_at = now() + CASE WHEN waits THEN interval '2 minutes' ELSE interval '10 seconds' END
  FROM due WHERE e.id = due.id
  RETURNING e.id AS execution_id, e.project_id, e.dispatch, waits, run_at`;

/** Asks an Inngest server for runs that are due. @returns how many */
async function requestAllDue(): Promise<number> {
  const { rows } = await pool().query<DueRun & { waits: boolean; run_at: Date }>(TAKE, [[...(localWorker(pool())?.held ?? [])]]);
  const asleep = rows.filter(({ waits }) => waits);
  const isTaken = await sendEvents(
    asleep.map(({ execution_id, run_at }) => executionWake.create({ execution_id }, { id: `${execution_id}-${run_at.getTime()}` })),
  );
  const runs = rows.filter(({ waits }) => !waits).map(({ execution_id, project_id, dispatch }) => ({ execution_id, project_id, dispatch }));
  // With the server away the others are due again in ten seconds.
  for (let from = 0; isTaken && from < runs.length; from += TOGETHER) if (!(await requestDue(runs.slice(from, from + TOGETHER)))) break;
  return rows.length;
}

/**
 * Looks after runs that are due: whatever was lost (an event, a process, a server), a run goes on. What this process carries
 * itself goes on anyway. Processes may sweep at the same time.
 * @returns how many were asked for
 */
export async function sweepExecutions(): Promise<number> {
  const woken = await sweepWaits();
  if (!isEmbeddedExecutor()) return woken + (await requestAllDue());
  localWorker(pool())?.poke();
  return woken;
}

/**
 * Has every execution that nobody has begun asked for anew by the next sweep. For a process that starts: while nothing
 * answered, an Inngest server has put its tries off for minutes, and would not take the same requests again.
 */
export async function makeUnbegunDue(): Promise<void> {
  await pool().query(
    `UPDATE executions SET dispatch = dispatch + 1, run_at = ${NOW}
     WHERE run_at IS NOT NULL AND lease_epoch = 0 AND status NOT IN ${FINAL}`,
  );
}
