import { pool } from "#server/db/client.ts";
import { BEGUN, FINAL } from "#server/engine/run-store-sql.ts";
import { requestRun } from "#server/services/executions/request-run.ts";

/**
 * Makes `dispatch` the one that acts for an unfinished execution and asks for it; older ones end at their next look.
 * Called again with the same number it changes nothing and only asks again.
 * @returns false when the executor could not be reached; the execution is soon overdue again
 */
export async function redispatch(data: { execution_id: string; project_id: string; dispatch: number }): Promise<boolean> {
  // One that no request has been answered for yet most likely waits for its turn behind others, so it is left longer.
  const { rowCount } = await pool().query(
    `UPDATE executions SET dispatch = $2, overdue_at = now() + CASE WHEN lease_epoch = 0 OR lease_owner LIKE '%${BEGUN}%' THEN interval '10 minutes' ELSE interval '2 minutes' END
     WHERE id = $1 AND dispatch <= $2 AND status NOT IN ${FINAL}`,
    [data.execution_id, data.dispatch],
  );
  if (!rowCount || (await requestRun(data))) return true;
  await pool().query("UPDATE executions SET overdue_at = now() + interval '10 seconds' WHERE id = $1 AND dispatch = $2", [
    data.execution_id,
    data.dispatch,
  ]);
  return false;
}
