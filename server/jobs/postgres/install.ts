import type pg from "pg";
import { ADD_ROWS, SCHEMA } from "#server/events/job-rows.ts";
import { openPool } from "#server/jobs/postgres/session.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";

/**
 * Makes graphile-worker's tables if the database has none, for every role: jobs are queued before a worker is there. A worker
 * brings older ones up to date itself. Safe to call from several processes at once.
 */
export async function installJobSchema(databaseUrl: string): Promise<void> {
  const pgPool = openPool(databaseUrl);
  try {
    const { rows } = await pgPool.query<{ has: boolean }>(`SELECT to_regclass('${SCHEMA}.jobs') IS NOT NULL AS has`);
    if (rows[0]?.has) return;
    const [{ runMigrations }, { workerLog }] = await Promise.all([
      import("graphile-worker"),
      import("#server/jobs/postgres/worker-log.ts"),
    ]);
    await runMigrations({ pgPool, schema: SCHEMA, logger: workerLog });
  } finally {
    await pgPool.end();
  }
}

// Whatever holds them loses them: its next write finds them ended. The functions' ids had the app's name before theirs.
const TAKE_OVER = `
  WITH ended AS (
    UPDATE treadle_jobs.runs
    SET status = 'cancelled', ended_at = extract(epoch FROM now()) * 1000, owner = NULL, due_at = NULL, blocked_on = NULL
    WHERE ended_at IS NULL AND fn_id IN ('treadle-index-document', 'treadle-notify-review') RETURNING event::json AS event
  ), unrouted AS (
    DELETE FROM treadle_jobs.events WHERE NOT routed AND name IN ('document/added', 'review/opened') RETURNING payload::json AS event
  ), old AS (
    SELECT DISTINCT ON (key) event ->> 'name' AS task, key, now() AS run_at, NULL::text[] AS flags,
      json_build_object('id', event ->> 'id', 'data', event -> 'data', 'failed', 0, 'steps', json_build_object()) AS payload
    FROM (SELECT event FROM ended UNION ALL SELECT event FROM unrouted) AS events
    CROSS JOIN LATERAL (SELECT concat(event ->> 'name', ':', event ->> 'id') AS key) AS k ORDER BY key
  )
  ${ADD_ROWS("old")}`;

/**
 * Queues what the version before had queued in tables of its own (documents to be indexed, people to be told of reviews), and
 * drops those. Its runs go on by their rows.
 */
export async function takeOverOldJobs(pool: pg.Pool): Promise<void> {
  const count = await inTransaction(async (client) => {
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('treadle_jobs', 0))");
    const { rows } = await client.query<{ has: boolean }>("SELECT to_regclass('treadle_jobs.runs') IS NOT NULL AS has");
    if (!rows[0]?.has) return 0;
    const { rows: taken } = await client.query<{ count: number }>(TAKE_OVER);
    await client.query("DROP SCHEMA treadle_jobs CASCADE");
    return taken[0]?.count ?? 0;
  }, pool);
  if (count) log.info({ jobs: count }, "took over jobs of the version before");
}
