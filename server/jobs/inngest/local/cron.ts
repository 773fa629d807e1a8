import type pg from "pg";
import { planRun, storeRun } from "#server/jobs/inngest/local/ingest.ts";
import { transaction } from "#server/jobs/inngest/local/query.ts";
import { nextTick, readRegistry } from "#server/jobs/inngest/local/registry.ts";

/**
 * Starts a run for each cron trigger whose tick has come. Executors that do it at once start one run for each tick:
 * the tick's row is locked, and the event's id is made of the tick. Ticks missed while nothing ran become one run.
 * @param fns functions of this executor
 * @param now milliseconds since 1970
 * @returns the number of runs started
 */
export async function fireCrons(pool: pg.Pool, fns: string[], now: number): Promise<number> {
  return transaction(pool, async (client) => {
    // Registration takes the same lock exclusively, so the functions read here stay valid.
    await client.query("SELECT pg_advisory_xact_lock_shared(7411, 2)");
    const due = await client.query<{ fn_id: string; cron: string; next_at: string }>(
      "SELECT fn_id, cron, next_at FROM treadle_jobs.crons WHERE fn_id = ANY($1) AND next_at <= $2 FOR UPDATE SKIP LOCKED",
      [fns, now],
    );
    if (!due.rows.length) return 0;
    const known = await readRegistry(client);
    for (const row of due.rows) {
      const fn = known.functions.get(row.fn_id);
      const next = nextTick(row.cron, now);
      if (next === undefined) await client.query("DELETE FROM treadle_jobs.crons WHERE fn_id = $1 AND cron = $2", [row.fn_id, row.cron]);
      else await client.query("UPDATE treadle_jobs.crons SET next_at = $3 WHERE fn_id = $1 AND cron = $2", [row.fn_id, row.cron, next]);
      if (!fn) continue;
      const tick = Number(row.next_at);
      const event = { id: `cron:${row.fn_id}:${row.cron}:${tick}`, name: "inngest/scheduled.timer", ts: tick, data: { cron: row.cron } };
      await storeRun(client, known, event, { ...planRun(fn, event, now), idem: undefined }, now);
    }
    return due.rows.length;
  });
}
