import { pool } from "#server/platform/db/client.ts";
import { FINAL } from "#server/runs/store/statements.ts";
import { type DueRun, requestRuns } from "#server/runs/use-cases/request-run.ts";

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
export async function askFor(runs: readonly DueRun[]): Promise<boolean> {
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
  return rowCount ? askFor([data]) : true;
}
