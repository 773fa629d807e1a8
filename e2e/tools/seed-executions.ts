import { parseArgs } from "node:util";
import pg from "pg";

// `node e2e/tools/seed-executions.ts --database <postgres://…> --project <id> [--count 1000000]`: makes executions by the
// million, for looking at lists with. They are rows only: nothing runs, and a rerun of one has nothing to go on.

export interface SeedOptions {
  database: string;
  project: string;
  /** How many executions; 1,000,000 unless given. */
  count?: number;
  /** Over how many days back from now they are spread; 90 unless given. */
  days?: number;
}

const STEP = 100_000;

/** Ten workflows: the first takes about half of the executions, the last one in five hundred. */
const WORKFLOWS = `
  WITH made AS (
    INSERT INTO workflows (id, project_id, name, snapshot_id, trigger)
    SELECT gen_random_uuid(), $1::uuid, 'Seeded ' || n, gen_random_uuid(), 'manual' FROM generate_series(1, 10) AS n RETURNING id, snapshot_id, name
  ), graphs AS (
    INSERT INTO workflow_snapshots (id, workflow_id, hash, graph)
    SELECT snapshot_id, id, 'seeded', '{"nodes":[{"id":"t","type":"triggerNode","position":{"x":0,"y":0},"data":{"label":"Start","kind":"manual"}}],"edges":[]}'::jsonb FROM made
  ), versions AS (
    INSERT INTO workflow_versions (id, workflow_id, version, snapshot_id) SELECT gen_random_uuid(), id, 1, snapshot_id FROM made
  )
  INSERT INTO workflow_drafts (workflow_id, graph, base_version, updated_at)
  SELECT id, '{"nodes":[],"edges":[]}'::jsonb, 1, now() FROM made RETURNING workflow_id`;

// Oldest first, as they would have come. Nine in ten are completed; of the newest thousand some have not ended.
const EXECUTIONS = `
  WITH numbered AS (
    SELECT n, random() AS chance, random() AS share,
      date_trunc('milliseconds', now() - make_interval(secs => 60 + ($4::float8 * 86400) * (1 - n / $3::float8))) AS at
    FROM generate_series($5::int, $6::int) AS n
  ), made AS (
    INSERT INTO executions (id, project_id, workflow_id, workflow_version, snapshot_id, status, trigger, input_preview, output_preview, error,
      input_tokens, output_tokens, created_at, started_at, completed_at, lease_epoch, last_seq)
    SELECT
      (lpad(to_hex((extract(epoch FROM at) * 1000)::bigint), 12, '0') || '7' || substr(md5(n::text || random()::text), 1, 3) || 'a' || substr(md5(random()::text), 1, 15))::uuid,
      $1::uuid, w.id, 1, w.snapshot_id, state.status, CASE WHEN chance < 0.5 THEN 'webhook' WHEN chance < 0.8 THEN 'schedule' ELSE 'manual' END,
      'Summarise report ' || n, CASE WHEN state.status = 'completed' THEN repeat('What the run came to. ', 1 + n % 8) END,
      CASE WHEN state.status = 'failed' THEN 'The model did not answer in 120 seconds.' END,
      400 + n % 900, 100 + n % 300, at, at + interval '20 milliseconds', CASE WHEN state.has_ended THEN at + make_interval(secs => 1 + n % 40) END, 1, 6
    FROM numbered
    JOIN LATERAL (SELECT (($2::uuid[])[greatest(1, least(10, ceil(-ln(greatest(share, 0.001)) / ln(2))))::int]) AS id) AS chosen ON true
    JOIN workflows w ON w.id = chosen.id
    CROSS JOIN LATERAL (SELECT NOT (n > $3::int - 1000 AND chance < 0.2) AS has_ended) AS open
    CROSS JOIN LATERAL (SELECT has_ended, (CASE
      WHEN NOT has_ended THEN (CASE WHEN chance < 0.15 THEN 'paused' WHEN chance < 0.19 THEN 'running' ELSE 'queued' END)
      WHEN chance < 0.90 THEN 'completed' WHEN chance < 0.97 THEN 'failed' WHEN chance < 0.99 THEN 'cancelled' ELSE 'rejected' END)::"ExecutionStatus" AS status) AS state
    RETURNING id, project_id, workflow_id, trigger, input_preview, output_preview, error
  )
  INSERT INTO execution_values (execution_id, input, output, words) SELECT id, input_preview, output_preview, array_to_tsvector(
    ARRAY['project:' || project_id, 'workflow:' || workflow_id, 'trigger:' || trigger]
    || tsvector_to_array(to_tsvector('simple', concat_ws(' ', input_preview, output_preview, error)))) FROM made`;

/**
 * Writes the executions, in steps of 100,000, and has PostgreSQL look at the tables afterwards as it would in time.
 * @returns ids of the ten workflows, the busiest first
 */
export async function seedExecutions({ database, project, count = 1_000_000, days = 90 }: SeedOptions): Promise<string[]> {
  const client = new pg.Client({ connectionString: database });
  await client.connect();
  try {
    const { rows } = await client.query<{ workflow_id: string }>(WORKFLOWS, [project]);
    const workflows = rows.map((row) => row.workflow_id);
    for (let from = 1; from <= count; from += STEP) {
      await client.query(EXECUTIONS, [project, workflows, count, days, from, Math.min(count, from + STEP - 1)]);
    }
    // What was written with a past that had been counted before is counted anew.
    await client.query("DELETE FROM execution_counts WHERE project_id = $1", [project]);
    await client.query("DELETE FROM execution_open WHERE project_id = $1", [project]);
    await client.query("VACUUM (ANALYZE) executions, execution_values, execution_counts, execution_open, workflows");
    return workflows;
  } finally {
    await client.end();
  }
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { database: { type: "string" }, project: { type: "string" }, count: { type: "string" } } });
  if (!values.database || !values.project) throw new Error("Name the database and the project: --database postgres://… --project <id>");
  await seedExecutions({ database: values.database, project: values.project, ...(values.count && { count: Number(values.count) }) });
}
