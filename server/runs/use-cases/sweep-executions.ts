import { pool } from "#server/platform/db/client.ts";
import { askFor } from "#server/runs/store/redispatch.ts";
import { FINAL } from "#server/runs/store/statements.ts";
import { engineHere } from "#server/runs/use-cases/engine-here.ts";
import type { RunRequest } from "#server/runs/use-cases/request-run.ts";
import { sweepWaits } from "#server/runs/waits/sweep-waits.ts";

/** How many executions one sweep takes on, and how many it asks for at once. */
const BATCH = 1000;
const TOGETHER = 100;

// Ten seconds after its start an execution that nobody has carried is asked for once more as it was: its process may have died
// between the row and the request, and where that did arrive, this changes nothing. Later a new request is made: the executor
// would not take the same one twice, and may keep the first for a try in some minutes.
// Whoever takes them makes them due again in ten seconds, so that nobody else takes them while they are asked for.
const TAKE = `
  WITH overdue AS (
    SELECT id, overdue_at <= created_at + interval '15 seconds' AND lease_epoch = 0 AND dispatch = 0 AS is_first FROM executions
    WHERE overdue_at < now() AND (lease_until IS NULL OR lease_until < now()) AND status NOT IN ${FINAL} AND coalesce(lease_owner, '') <> ALL($1)
    ORDER BY overdue_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED
  )
  UPDATE executions e SET dispatch = CASE WHEN is_first THEN dispatch ELSE dispatch + 1 END, overdue_at = now() + interval '10 seconds'
  FROM overdue WHERE e.id = overdue.id
  RETURNING e.id AS execution_id, e.project_id, e.dispatch`;

/**
 * Asks again for unfinished executions that are overdue and that no live lease covers: whatever was lost (an event, a
 * process, a server), a run goes on. What this process carries itself goes on anyway. Runs that wait are looked
 * after with their waits. Processes may sweep at the same time: each takes what no other has taken, and nothing is locked
 * while it sends.
 * @returns how many were asked for
 */
export async function sweepExecutions(): Promise<number> {
  const woken = await sweepWaits();
  const { rows } = await pool().query<RunRequest>(TAKE, [[...(engineHere(pool())?.held ?? [])]]);
  // With the executor away the others are overdue again in ten seconds.
  for (let from = 0; from < rows.length; from += TOGETHER) if (!(await askFor(rows.slice(from, from + TOGETHER)))) break;
  return rows.length + woken;
}

/**
 * Has every execution that nobody has begun asked for anew by the next sweep. For a process that starts: while nothing
 * answered, an Inngest server has put its tries off for minutes, and would not take the same requests again.
 */
export async function makeUnbegunOverdue(): Promise<void> {
  await pool().query(
    `UPDATE executions SET dispatch = dispatch + 1, overdue_at = now()
     WHERE overdue_at IS NOT NULL AND lease_epoch = 0 AND status NOT IN ${FINAL}`,
  );
}
