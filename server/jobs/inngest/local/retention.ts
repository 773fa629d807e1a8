import type pg from "pg";
import { transaction } from "#server/jobs/inngest/local/query.ts";

const KEEP_MS = 3_600_000;
const BATCH = 500;

const DELETE_RUNS = `
WITH old AS (SELECT id FROM treadle_jobs.runs WHERE ended_at < $1 ORDER BY ended_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED),
     gone_steps AS (DELETE FROM treadle_jobs.steps s USING old WHERE s.run_id = old.id),
     gone_waits AS (DELETE FROM treadle_jobs.waits w USING old WHERE w.run_id = old.id)
DELETE FROM treadle_jobs.runs r USING old WHERE r.id = old.id`;

// Runs of functions that no app has any more.
const END_STRAYS = `
UPDATE treadle_jobs.runs SET status = 'failed', ended_at = $1, due_at = NULL, blocked_on = NULL, output = '{"name":"Error","message":"The function is gone."}'
 WHERE id IN (SELECT r.id FROM treadle_jobs.runs r WHERE r.owner IS NULL AND r.due_at < $1 AND NOT EXISTS
   (SELECT 1 FROM treadle_jobs.functions f WHERE f.id = r.fn_id) ORDER BY r.due_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

const deleteOld = (table: "events" | "keys", key: "id" | "key", and = ""): string =>
  `DELETE FROM treadle_jobs.${table} WHERE ${key} IN (SELECT ${key} FROM treadle_jobs.${table} WHERE delete_at < $1 ${and} ORDER BY delete_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)`;

/**
 * Ends runs of functions that were removed a day ago, and deletes runs that ended more than an hour ago, with their steps, and events and idempotency keys that are past
 * their time, in small batches. Does nothing while another process does it.
 * @param now milliseconds since 1970
 * @param goOn asked between batches
 * @returns the number of runs, events and keys concerned
 */
export async function deleteExpired(pool: pg.Pool, now: number, goOn: () => boolean = () => true): Promise<number> {
  let total = 0;
  const statements: [string, number][] = [
    [END_STRAYS, now - 24 * KEEP_MS],
    [DELETE_RUNS, now - KEEP_MS],
    [deleteOld("events", "id", "AND routed"), now],
    [deleteOld("keys", "key"), now],
  ];
  for (const [sql, before] of statements) {
    for (let count = BATCH; count === BATCH && goOn(); ) {
      count = await transaction(pool, async (client) => {
        const { rows } = await client.query<{ mine: boolean }>("SELECT pg_try_advisory_xact_lock(7411, 3) AS mine");
        return rows[0]?.mine ? ((await client.query(sql, [before])).rowCount ?? 0) : 0;
      });
      total += count;
    }
  }
  return total;
}
