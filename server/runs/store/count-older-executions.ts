import type pg from "pg";
import { inTransaction } from "#server/platform/db/client.ts";
import { FINAL } from "#server/runs/store/sql.ts";

/** About how many executions a counted piece holds. */
export const PIECE = 5000;

/** Held by whoever changes what execution_counts says of a project, or deletes what it has counted. */
export const COUNTS_LOCK = "SELECT pg_advisory_xact_lock(hashtextextended('execution-counts:' || $1::uuid, 0))";

const statusOf = (id: string) => `(SELECT status FROM executions WHERE executions.id = ${id})`;

/**
 * Those that had not ended when they were counted and have now: from `running`, which stands for them, to what they became.
 * Looked up one by one, since a planner that does not know yet of the last thousands would join them pair by pair.
 */
const SETTLE = `
  WITH ended AS (
    DELETE FROM execution_open o WHERE o.project_id = $1::uuid AND ${statusOf("o.execution_id")} IN ${FINAL}
    RETURNING o.since, (SELECT workflow_id FROM executions WHERE executions.id = o.execution_id), ${statusOf("o.execution_id")}
  ), sums AS (
    SELECT c.until, s.* FROM (SELECT since, workflow_id, status, count(*)::int AS count FROM ended GROUP BY since, workflow_id, status) AS s
    JOIN execution_counts c ON c.project_id = $1::uuid AND c.since = s.since AND c.workflow_id = s.workflow_id AND c.status = 'running'
  ), taken AS (
    UPDATE execution_counts c SET count = c.count - s.count
    FROM (SELECT since, workflow_id, sum(count)::int AS count FROM sums GROUP BY since, workflow_id) AS s
    WHERE c.project_id = $1::uuid AND c.since = s.since AND c.workflow_id = s.workflow_id AND c.status = 'running'
  )
  INSERT INTO execution_counts (project_id, since, until, workflow_id, status, count)
  SELECT $1::uuid, since, until, workflow_id, status, count FROM sums
  ON CONFLICT (project_id, since, workflow_id, status) DO UPDATE SET count = execution_counts.count + excluded.count`;

/**
 * From where and to where the next piece goes, if ${PIECE} executions are there that nobody can add to: created_at is the
 * start of the transaction that wrote them, so what lies before every transaction under way, and ten seconds back, is whole.
 */
const NEXT = `
  WITH counted AS (SELECT until FROM execution_counts WHERE project_id = $1::uuid ORDER BY since DESC LIMIT 1),
  first AS (
    SELECT created_at FROM executions WHERE project_id = $1::uuid AND created_at >= coalesce((SELECT until FROM counted), '-infinity')
    ORDER BY created_at LIMIT 1
  ), nth AS (
    SELECT created_at FROM executions WHERE project_id = $1::uuid AND created_at >= (SELECT created_at FROM first)
    ORDER BY created_at OFFSET ${PIECE} LIMIT 1
  ), ends AS (
    -- A piece ends between two times, also when thousands were created in one millisecond.
    SELECT created_at FROM executions
    WHERE project_id = $1::uuid AND created_at >= (SELECT created_at FROM nth) AND created_at > (SELECT created_at FROM first)
    ORDER BY created_at LIMIT 1
  )
  SELECT coalesce((SELECT until FROM counted), first.created_at) AS since, ends.created_at AS until FROM first, ends
  WHERE ends.created_at <= least(now() - interval '10 seconds', (
    SELECT min(xact_start) FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()))`;

const COUNT = `
  WITH piece AS MATERIALIZED (
    SELECT id, workflow_id, CASE WHEN status IN ${FINAL} THEN status ELSE 'running' END AS status FROM executions
    WHERE project_id = $1::uuid AND created_at >= $2::timestamptz AND created_at < $3::timestamptz
  ), open AS (
    INSERT INTO execution_open (project_id, since, execution_id) SELECT $1::uuid, $2::timestamptz, id FROM piece WHERE status = 'running'
  )
  INSERT INTO execution_counts (project_id, since, until, workflow_id, status, count)
  SELECT $1::uuid, $2::timestamptz, $3::timestamptz, workflow_id, status, count(*) FROM piece GROUP BY workflow_id, status`;

async function countPiece(client: pg.PoolClient, project_id: string): Promise<boolean> {
  const { rows } = await client.query<{ since: Date; until: Date }>(NEXT, [project_id]);
  if (!rows[0]) return false;
  await client.query(COUNT, [project_id, rows[0].since, rows[0].until]);
  return true;
}

/** At most one at a time in this process for each project. */
const underWay = new Map<string, Promise<number>>();

async function countAll(project_id: string): Promise<number> {
  await inTransaction(async (client) => {
    await client.query(COUNTS_LOCK, [project_id]);
    await client.query(SETTLE, [project_id]);
  });
  let pieces = 0;
  const next = () =>
    inTransaction(async (client) => {
      await client.query(COUNTS_LOCK, [project_id]);
      return countPiece(client, project_id);
    });
  while (await next()) pieces += 1;
  return pieces;
}

/**
 * Counts a project's executions ahead, piece by piece, so that lists need not; see count-executions.ts.
 * @returns how many pieces were added
 */
export function countOlderExecutions(project_id: string): Promise<number> {
  const already = underWay.get(project_id);
  if (already) return already;
  const counting = countAll(project_id).finally(() => underWay.delete(project_id));
  underWay.set(project_id, counting);
  return counting;
}
