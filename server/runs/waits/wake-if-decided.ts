import { randomUUID } from "node:crypto";
import { pool } from "#server/platform/db/client.ts";
import { wakeRuns } from "#server/runs/use-cases/wake-run.ts";

/**
 * Sends the wake again when a decision came that the run has not taken. To be called when the run's wait is stored: a wake
 * that was sent before found nobody waiting.
 */
export async function wakeIfDecided(execution_id: string): Promise<void> {
  const { rowCount } = await pool().query({
    name: "review-untaken",
    text: "SELECT FROM reviews WHERE execution_id = $1 AND status IN ('approved', 'rejected') AND taken_at IS NULL LIMIT 1",
    values: [execution_id],
  });
  if (rowCount) await wakeRuns([{ execution_id, id: `${execution_id}-${randomUUID()}` }]);
}
