import { LRUCache } from "lru-cache";
import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { settings } from "#server/platform/settings.ts";
import { forgetStored, fullStorage, storageQuota, storedBytes } from "#server/runs/store/space.ts";
import { FINAL } from "#server/runs/store/sql.ts";

/**
 * How many executions the project `p` may start in an hour, as SQL; 0 is no limit. The project's own figure, else the
 * install's, and never more than the install allows.
 * @param preset the install's figure and `most` its cap, as expressions; 0 for none
 */
export const hourlyLimit = (preset: string, most: string): string =>
  `coalesce(least(nullif(coalesce(p.executions_per_hour, ${preset}), 0), nullif(${most}, 0)), 0)`;

/** The values of those two expressions. */
export const hourlyValues = (): [preset: number, most: number] => {
  const { EXECUTIONS_PER_HOUR, EXECUTIONS_PER_HOUR_MAX } = settings();
  return [EXECUTIONS_PER_HOUR, EXECUTIONS_PER_HOUR_MAX];
};

// No more are counted than the limit says: beyond it, how many there are changes nothing.
const USED = {
  name: "hourly-use",
  text: `
    SELECT h.hourly AS limit, count(e.created_at)::int AS used, min(e.created_at) + interval '1 hour' AS next_at
    FROM (SELECT p.id, ${hourlyLimit("$2::int", "$3::int")} AS hourly FROM projects p WHERE p.id = $1::uuid) AS h
    LEFT JOIN LATERAL (
      SELECT created_at FROM executions
      WHERE project_id = h.id AND created_at > now() - interval '1 hour' AND is_counted AND NOT (status = 'failed' AND started_at IS NULL)
      ORDER BY created_at DESC LIMIT h.hourly
    ) AS e ON true
    GROUP BY h.hourly`,
};

/** How many executions a project may start in an hour, how many it has, and when the first of these no longer counts. 0 is no limit. */
export async function hourlyUse(project_id: string): Promise<{ limit: number; used: number; next_at: Date | null }> {
  const values = [project_id, ...hourlyValues()];
  const { rows } = await pool().query<{ limit: number; used: number; next_at: Date | null }>({ ...USED, values });
  return rows[0] ?? { limit: 0, used: 0, next_at: null };
}

/** Full projects that were measured in the last ten seconds; after that something may have been deleted. */
const measured = new LRUCache<string, true>({ max: 1000, ttl: 10_000 });

/**
 * Why a project may take no more in; undefined while it has room.
 * @param within a transaction, which must not wait for another connection: then it is not measured again
 * @returns a sentence that says what to do
 */
export async function reasonWithoutRoom(project_id: string, within?: pg.PoolClient): Promise<string | undefined> {
  const stored = await storedBytes(project_id, within);
  if (stored <= storageQuota()) return undefined;
  if (within) return fullStorage(stored);
  if (measured.has(project_id)) return fullStorage(stored);
  measured.set(project_id, true);
  await measureStorage(project_id, () => false);
  const now = await storedBytes(project_id);
  return now > storageQuota() ? fullStorage(now) : undefined;
}

/**
 * Refuses what a full project would store.
 * @throws AppError CONFLICT that says what to do
 */
export async function assertRoom(project_id: string): Promise<void> {
  const reason = await reasonWithoutRoom(project_id);
  if (reason !== undefined) throw new AppError("CONFLICT", reason);
}

/** How many executions from before bytes were counted are looked at together. */
const BATCH = 200;

// Texts count as long as they are, which costs nothing to know, and not as what is left of them when PostgreSQL has compressed
// them. A row itself takes some hundred bytes, with its place in the indexes.
const FILL = `
  WITH old AS (
    SELECT id FROM executions WHERE project_id = $1 AND bytes = 0 AND status IN ${FINAL} ORDER BY created_at DESC LIMIT ${BATCH}
  )
  UPDATE executions e SET bytes = 500
    + coalesce((SELECT sum(200 + coalesce(octet_length(v.input), 0) + coalesce(octet_length(v.output), 0) + coalesce(pg_column_size(v.tool_calls), 0))
        FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id WHERE r.execution_id = e.id), 0)
    + coalesce((SELECT sum(100 + pg_column_size(data)) FROM execution_events WHERE execution_id = e.id), 0)
    + coalesce((SELECT sum(octet_length(text)) FROM run_texts WHERE execution_id = e.id), 0)
    + coalesce((SELECT octet_length(input) + coalesce(octet_length(output), 0) + coalesce(pg_column_size(outputs), 0)
        FROM execution_values WHERE execution_id = e.id), 0)
  FROM old WHERE e.id = old.id`;

const MEASURE = `
  INSERT INTO project_storage (project_id, runs, documents, workflows, other, measured_at)
  SELECT p.id,
    coalesce((SELECT sum(bytes) FROM executions WHERE project_id = p.id), 0)
      + coalesce((SELECT sum(100 + coalesce(octet_length(d.body), 0)) FROM webhook_deliveries d JOIN workflows w ON w.id = d.workflow_id
          WHERE w.project_id = p.id), 0),
    coalesce((SELECT sum(octet_length(c.text) + coalesce(octet_length(c.data), 0)) FROM rag_sources s
        JOIN rag_documents d ON d.rag_source_id = s.id JOIN rag_document_contents c ON c.document_id = d.id WHERE s.project_id = p.id), 0)
      + coalesce((SELECT sum(100 + octet_length(k.text) + pg_column_size(k.embedding) + coalesce(pg_column_size(k.search), 0))
          FROM rag_sources s JOIN rag_chunks k ON k.rag_source_id = s.id WHERE s.project_id = p.id), 0),
    coalesce((SELECT sum(pg_column_size(g.graph)) FROM workflows w JOIN workflow_snapshots g ON g.workflow_id = w.id WHERE w.project_id = p.id), 0)
      + coalesce((SELECT sum(pg_column_size(f.graph)) FROM workflows w JOIN workflow_drafts f ON f.workflow_id = w.id WHERE w.project_id = p.id), 0)
      + coalesce((SELECT sum(pg_column_size(o.base) + pg_column_size(o.graph) + pg_column_size(o.operations))
          FROM assistant_threads t JOIN assistant_proposals o ON o.thread_id = t.id WHERE t.project_id = p.id), 0)
      + coalesce((SELECT sum(300 + octet_length(m.content) + octet_length(m.answer) + pg_column_size(m.conversation))
          FROM assistant_threads t JOIN assistant_messages m ON m.thread_id = t.id WHERE t.project_id = p.id), 0)
      + coalesce((SELECT sum(100 + pg_column_size(v.data))
          FROM assistant_threads t JOIN assistant_events v ON v.thread_id = t.id WHERE t.project_id = p.id), 0),
    coalesce((SELECT sum(300 + coalesce(octet_length(i.response), 0)) FROM idempotency_keys i WHERE i.project_id = p.id), 0)
      + coalesce((SELECT sum(100 + pg_column_size(v.config)) FROM agents a JOIN agent_versions v ON v.agent_id = a.id
          WHERE a.project_id = p.id), 0)
      + coalesce((SELECT sum(100 + octet_length(s.prompt)) FROM skills s WHERE s.project_id = p.id), 0)
      + coalesce((SELECT sum(100 + pg_column_size(m.tools)) FROM mcp_servers m WHERE m.project_id = p.id), 0)
      + coalesce((SELECT sum(300 + coalesce(pg_column_size(l.detail), 0)) FROM audit_log l WHERE l.project_id = p.id), 0),
    now()
  FROM projects p WHERE p.id = $1
  ON CONFLICT (project_id) DO UPDATE SET runs = excluded.runs, documents = excluded.documents, workflows = excluded.workflows,
    other = excluded.other,
    measured_at = excluded.measured_at`;

/** Whoever looks while a project is measured waits for that, and asks for no other. */
const underWay = new Map<string, Promise<void>>();

/**
 * Measures what a project holds, with what was deleted since the last time or lost with a process.
 * @param goOn asked before executions of an older version are looked at, some hundred at a time
 */
export async function measureStorage(project_id: string, goOn: () => boolean): Promise<void> {
  const measuring = underWay.get(project_id) ?? measureNow(project_id, goOn).finally(() => underWay.delete(project_id));
  underWay.set(project_id, measuring);
  await measuring;
}

async function measureNow(project_id: string, goOn: () => boolean): Promise<void> {
  while (goOn()) {
    const { rowCount } = await pool().query(FILL, [project_id]);
    if ((rowCount ?? 0) < BATCH) break;
  }
  await pool().query(MEASURE, [project_id]);
  forgetStored(project_id);
}
