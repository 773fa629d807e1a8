import { pool } from "#server/db/client.ts";
import { BEGUN, FINAL } from "#server/engine/run-store-sql.ts";
import { requestRun } from "#server/services/executions/request-run.ts";

/**
 * Makes `dispatch` the one that acts for an unfinished execution and asks for it; older ones end at their next look.
 * Called again with the same number it changes nothing and only asks again.
 * @returns false when the executor could not be reached; the execution is soon overdue again
 */
export async function redispatch(data: { execution_id: string; project_id: string; dispatch: number }): Promise<boolean> {
  const values = [data.execution_id, data.dispatch];
  // Soon overdue again: this process may die before it has asked.
  const { rowCount } = await pool().query(
    `UPDATE executions SET dispatch = $2, overdue_at = now() + interval '10 seconds'
     WHERE id = $1 AND dispatch <= $2 AND status NOT IN ${FINAL}`,
    values,
  );
  if (!rowCount) return true;
  if (!(await requestRun(data))) return false;
  // One that no request has been answered for yet most likely waits for its turn behind others, so it is left longer.
  await pool().query(
    `UPDATE executions SET overdue_at = now() + CASE WHEN lease_epoch = 0 OR lease_owner LIKE '%${BEGUN}%' THEN interval '10 minutes' ELSE interval '2 minutes' END
     WHERE id = $1 AND dispatch = $2 AND (lease_until IS NULL OR lease_until < now()) AND status NOT IN ${FINAL}`,
    values,
  );
  return true;
}
