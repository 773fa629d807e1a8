import type pg from "pg";
import { empty, named, raw, sql, when } from "#server/platform/db/sql.ts";
import type { RunState } from "#server/runs/ports.ts";
import type { ExecutionStatus } from "#server/runs/status-schema.ts";
import {
  HAS_VALUES,
  insertTexts,
  JSON_COLUMNS,
  ROW_COLUMNS,
  ROW_VALUES,
  USAGE_COLUMNS,
  usageValues,
  VALUE_COLUMNS,
} from "#server/runs/store/node-run-columns.ts";
import { FINAL, queueForReadings } from "#server/runs/store/sql.ts";
import { wholeText } from "#server/runs/store/texts.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

/** Values of one commit. */
export interface CommitWrite {
  run: Pick<RunState, "id" | "holder" | "commits">;
  /** JSON of `formatRows`. */
  rows: string;
  /** JSON of `formatEvents`. */
  events: string;
  /** JSON of `formatEnding`; null while the run goes on. */
  ending: string | null;
  /** JSON with the waits that begin (`waits`), the ids of acknowledged ones (`taken`) and those to withdraw (`withdrawn`); null when there are none. */
  waits: string | null;
  /** Long texts that the rows, events and ending refer to. */
  texts: [hashes: string[], texts: string[]] | undefined;
  /** New status of a run that goes on; null keeps it. */
  status: ExecutionStatus | null;
  input_tokens: number;
  output_tokens: number;
  /** Bytes that it adds to the run. */
  bytes: number;
  /** Nodes whose deltas are dropped, as iteration and id with a space between. */
  sources: string[];
  /** Number of the event after which those deltas come. */
  deltasAfter: number;
  /** Does not wait for the disk. */
  isAsync: boolean;
  /** Another run waits for the end of this one. */
  endsChild: boolean;
  /** Rows have the costs of model calls. */
  hasCalls: boolean;
}

const WAIT_DISPLAY_VALUE = raw(wholeText("given.id", "w.display_value_hash"));
const WAIT_TEXT = raw(wholeText("given.id", "w.text_hash"));

/** Inserts new waits, acknowledges ended ones, and withdraws those that are no longer needed. */
const WAIT_WRITES = sql`
  ), opened AS (
    INSERT INTO waits (
      id, project_id, execution_id, node_id, iteration, reason, label, deadline, token_hash, request, title, description,
      display_value, display_value_hash, notification_email, text, text_hash, terms, remind_at)
    SELECT w.id, lease.project_id, lease.id, w.node_id, w.iteration, w.reason, w.label, w.deadline, decode(w.token_hash, 'hex'),
      w.request, coalesce(w.title, ''), coalesce(w.description, ''),
      coalesce(w.display_value, ${WAIT_DISPLAY_VALUE}, ''), w.display_value_hash, w.notification_email,
      coalesce(w.text, ${WAIT_TEXT}), w.text_hash, w.terms, w.remind_at
    FROM lease, given, jsonb_to_recordset(given.waits->'waits') AS w(
      id uuid, node_id text, iteration text, reason "WaitReason", label text, deadline timestamptz, token_hash text, request jsonb,
      title text, description text, display_value text, display_value_hash text, notification_email text,
      text text, text_hash text, terms jsonb, remind_at timestamptz)
  ), acknowledged AS (
    UPDATE waits
    SET taken_at = now()
    FROM lease
    WHERE waits.id IN (SELECT value::uuid FROM given, jsonb_array_elements_text(given.waits->'taken'))
  ), withdrawn AS (
    UPDATE waits
    SET status = 'withdrawn',
      resolved_at = now()
    FROM lease, given
    WHERE waits.execution_id = given.id
      AND waits.status = 'waiting'
      AND (given.ending IS NOT NULL OR EXISTS (
        SELECT
        FROM jsonb_to_recordset(given.waits->'withdrawn') AS w(node_id text, iteration text)
        WHERE w.node_id = waits.node_id
          AND w.iteration = waits.iteration))
    RETURNING waits.id
  ), seen AS (
    UPDATE notifications
    SET read_at = now()
    WHERE kind = 'review'
      AND subject_id IN (SELECT id FROM withdrawn)
      AND read_at IS NULL`;

/** Makes the parent's wait unnotified, so that its recovery finds it. */
const CHILD_END = sql`
  ), unnotified AS (
    UPDATE waits
    SET notified_at = NULL
    FROM lease, given
    WHERE waits.id = given.id
      AND reason = 'child'`;

/** Parts of a commit whose rows have the costs of model calls. */
const CALLS = {
  sums: sql`
  ), sums AS MATERIALIZED (
    SELECT coalesce(sum((r->>'cost')::numeric), 0) AS cost,
      coalesce(bool_or(r->>'cost' IS NULL), false) AS is_partial
    FROM given, jsonb_array_elements(given.rows) AS r
    WHERE r->>'agent_id' IS NOT NULL`,
  from: sql`, sums`,
  assignments: sql`
      cost = e.cost + sums.cost,
      cost_is_partial = e.cost_is_partial OR sums.is_partial,`,
  json: sql`, agent_id uuid, llm_key_id uuid, provider text, cost numeric, cached_tokens int`,
  columns: sql`, cost, cached_tokens`,
  values: sql`, cost, coalesce(cached_tokens, 0)`,
  updates: sql`,
      cost = excluded.cost,
      cached_tokens = excluded.cached_tokens`,
  usage: sql`
  ), used AS (
    INSERT INTO usage_calls (${USAGE_COLUMNS})
    SELECT ${usageValues("r", "lease")}
    FROM new_rows r, lease
    WHERE r.agent_id IS NOT NULL`,
};
const NO_CALLS = { sums: empty, from: empty, assignments: empty, json: empty, columns: empty, values: empty, updates: empty, usage: empty };

const LEASE = raw("lease");
const FINAL_STATUSES = raw(FINAL);
const OUTPUT = raw(wholeText("given.id", "given.ending->>'output_hash'"));
const QUEUED = raw(queueForReadings({ id: "lease.id", workflow_id: "lease.workflow_id", version: "lease.result_of" }));

/**
 * Builds the statement of a commit: one, so that rows, events and the end of a run appear together or not at all. It returns no row
 * when the lease is lost or the commit is there already.
 */
export function commitStatement(write: CommitWrite): pg.QueryConfig {
  const { run, waits, texts, endsChild, hasCalls } = write;
  const calls = hasCalls ? CALLS : NO_CALLS;
  const waitWrites = when(waits !== null, WAIT_WRITES);
  const childEnd = when(endsChild, CHILD_END);
  const textWrites = texts ? insertTexts(LEASE, texts) : empty;
  const kind = [waits !== null && "-waits", endsChild && "-child", hasCalls && "-calls", texts && "-texts"];

  return named(
    `run-commit${kind.filter(Boolean).join("")}`,
    sql`
  WITH given AS NOT MATERIALIZED (
    SELECT ${run.id}::uuid AS id,
      ${write.rows}::jsonb AS rows,
      ${write.events}::jsonb AS events,
      ${write.ending}::jsonb AS ending,
      ${write.waits}::jsonb AS waits
  ), async_commit AS MATERIALIZED (
    SELECT CASE WHEN ${write.isAsync}::boolean THEN set_config('synchronous_commit', 'off', true) END${calls.sums}
  ), lease AS (
    UPDATE executions e
    SET${calls.assignments}
      last_seq = e.last_seq + jsonb_array_length(given.events),
      commit_no = e.commit_no + 1,
      bytes = e.bytes + ${write.bytes}::bigint,
      input_tokens = e.input_tokens + ${write.input_tokens},
      output_tokens = e.output_tokens + ${write.output_tokens},
      status = coalesce((given.ending->>'status')::"ExecutionStatus", ${write.status}::"ExecutionStatus", e.status),
      error = coalesce(given.ending->>'error', e.error),
      output_preview = coalesce(left(given.ending->>'output', ${PREVIEW_CHARACTERS}), e.output_preview),
      completed_at = CASE WHEN given.ending IS NULL THEN e.completed_at ELSE now() END,
      lease_until = CASE WHEN given.ending IS NULL THEN e.lease_until END,
      run_at = CASE WHEN given.ending IS NULL THEN e.run_at END,
      -- A finished node is progress: earlier crashes say nothing about the next one.
      crashes = CASE
        WHEN e.crashes > 0 AND NOT jsonb_path_exists(given.rows, '$[*] ? (@.status != "running" && !(@.is_interrupted == true))')
        THEN e.crashes
        ELSE 0
      END
    FROM given, async_commit${calls.from}
    WHERE e.id = given.id
      AND e.lease_owner = ${run.holder}
      AND e.commit_no = ${run.commits}
      AND e.status NOT IN ${FINAL_STATUSES}
    RETURNING e.id, e.project_id, e.workflow_id, e.cost AS total_cost,
      e.last_seq - jsonb_array_length(given.events) AS seq,
      round(extract(epoch FROM now() - e.created_at) * 1000)::float8 AS duration_ms,
      CASE WHEN given.ending->>'status' IN ('completed', 'failed') THEN e.workflow_version END AS result_of
  ), new_rows AS (
    SELECT lease.id AS execution_id, r.*
    FROM lease, given, jsonb_to_recordset(given.rows) AS r(${JSON_COLUMNS}${calls.json})
  ), written AS (
    INSERT INTO node_runs (${ROW_COLUMNS}${calls.columns})
    SELECT ${ROW_VALUES}${calls.values}
    FROM new_rows
    ON CONFLICT (execution_id, node_id, iteration, attempt) DO UPDATE
    SET status = excluded.status,
      handle = excluded.handle,
      error = excluded.error,
      completed_at = excluded.completed_at,
      duration_ms = excluded.duration_ms,
      is_interrupted = excluded.is_interrupted,
      is_cut_off = excluded.is_cut_off,
      model = excluded.model,
      input_tokens = excluded.input_tokens,
      output_tokens = excluded.output_tokens${calls.updates}
  ), valued AS (
    INSERT INTO node_run_values (node_run_id, ${VALUE_COLUMNS})
    SELECT id, ${VALUE_COLUMNS}
    FROM new_rows
    WHERE ${HAS_VALUES}
    ON CONFLICT (node_run_id) DO UPDATE
    SET output = excluded.output,
      output_hash = excluded.output_hash,
      tool_calls = excluded.tool_calls,
      details = excluded.details
  ), emitted AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT lease.id, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, given, jsonb_array_elements(given.events) WITH ORDINALITY AS e(event, position)
  ), dropped AS (
    DELETE FROM execution_events
    USING given
    WHERE execution_id = given.id
      AND ${write.sources.length > 0}::boolean
      AND seq > ${write.deltasAfter}
      AND type = 'node_delta'
      AND EXISTS (SELECT FROM lease)
      AND concat(data->>'iteration', ' ', node_id) = ANY(${write.sources})
  ), result AS (
    UPDATE execution_values
    SET output = coalesce(${OUTPUT}, given.ending->>'output'),
      output_hash = given.ending->>'kept_hash',
      outputs = given.ending->'outputs',
      words = words || array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text(given.ending->'words')))
    FROM given
    WHERE execution_id = given.id
      AND given.ending IS NOT NULL
      AND EXISTS (SELECT FROM lease)${calls.usage}${waitWrites}${childEnd}${textWrites}
  )
  SELECT seq, workflow_id, total_cost::float8 AS cost, duration_ms, pg_notify('treadle_execution', lease.id::text), ${QUEUED}
  FROM lease`,
  );
}
