import { pool } from "#server/db/client.ts";
import { FINAL } from "#server/engine/run-store-sql.ts";
import { inngest } from "#server/inngest/client.ts";
import { executionRequested } from "#server/inngest/events.ts";
import { log } from "#server/log.ts";

/** How many executions one sweep asks for again, and how many go in one request. */
const BATCH = 1000;
const EVENTS = 100;

// `overdue_at` is ten seconds after the start only until this statement has seen the execution.
const UNTAKEN = `
  UPDATE executions SET overdue_at = now() + interval '2 minutes'
  WHERE id IN (
    SELECT id FROM executions WHERE overdue_at < now() AND overdue_at <= created_at + interval '15 seconds' AND lease_epoch = 0
      AND dispatch = 0 AND status NOT IN ${FINAL} ORDER BY overdue_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
  RETURNING id AS execution_id, project_id, dispatch`;

/**
 * Asks once more for executions that were accepted and that nobody has carried ten seconds later: their process may have
 * died between the row and the request. The events bear the same ids, so where the request did arrive, this changes nothing.
 * @returns how many were asked for
 */
export async function askAgain(): Promise<number> {
  const { rows } = await pool().query<{ execution_id: string; project_id: string; dispatch: number }>(UNTAKEN);
  try {
    for (let from = 0; from < rows.length; from += EVENTS)
      await inngest().send(
        rows.slice(from, from + EVENTS).map((row) => executionRequested.create(row, { id: `${row.execution_id}-${row.dispatch}` })),
      );
  } catch (error) {
    log.warn({ err: error }, "the executor could not be reached, the sweeper will ask again");
    const ids = rows.map(({ execution_id }) => execution_id);
    await pool().query("UPDATE executions SET overdue_at = now() + interval '10 seconds' WHERE id = ANY($1::uuid[]) AND lease_epoch = 0", [
      ids,
    ]);
  }
  return rows.length;
}
