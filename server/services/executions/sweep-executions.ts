import { pool } from "#server/db/client.ts";
import { FINAL } from "#server/engine/run-store-sql.ts";
import { askAgain } from "#server/services/executions/ask-again.ts";
import { engineHere } from "#server/services/executions/engine-here.ts";
import { redispatch } from "#server/services/executions/redispatch.ts";
import { sweepReviews } from "#server/services/reviews/sweep-reviews.ts";

/** How many executions one sweep takes on. */
const BATCH = 100;

/**
 * Asks again for unfinished executions that are overdue and that no live lease covers: whatever was lost (an event, a
 * process, a server), a run goes on. What this process carries itself goes on anyway. Runs that wait for people are looked after with their reviews. One process at a time
 * sweeps.
 * @returns how many were asked for
 */
export async function sweepExecutions(): Promise<number> {
  await askAgain();
  const { rows } = await pool().query<{ execution_id: string; project_id: string; dispatch: number }>(
    `SELECT id AS execution_id, project_id, dispatch FROM executions
     WHERE overdue_at < now() AND (lease_until IS NULL OR lease_until < now()) AND status NOT IN ${FINAL} AND coalesce(lease_owner, '') <> ALL($1)
     ORDER BY overdue_at LIMIT ${BATCH}`,
    [[...(engineHere(pool())?.held ?? [])]],
  );
  // With the executor away the others stay overdue: the next sweep comes to them, and reviews are looked after meanwhile.
  for (const row of rows) if (!(await redispatch({ ...row, dispatch: row.dispatch + 1 }))) break;
  return rows.length + (await sweepReviews());
}
