import { pool } from "#server/platform/db/client.ts";
import type { ExecutionStatus } from "#server/runs/schema.ts";

/**
 * The state that an execution is in; one that is gone counts as cancelled.
 * @throws the database's error
 */
export async function executionStatus(execution_id: string): Promise<ExecutionStatus> {
  const { rows } = await pool().query<{ status: ExecutionStatus }>("SELECT status FROM executions WHERE id = $1", [execution_id]);
  return rows[0]?.status ?? "cancelled";
}
