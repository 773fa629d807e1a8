import type pg from "pg";
import { cleanText } from "#server/clean-text.ts";
import { pool } from "#server/db/client.ts";
import { subscribe } from "#server/db/notify.ts";
import {
  type Acquired,
  type Commit,
  type EventWrite,
  LeaseLost,
  type LedgerRow,
  type RunState,
  type RunStore,
} from "#server/engine/ports.ts";
import { isDatabaseAway } from "#server/errors.ts";
import { finalStatuses, PREVIEW_CHARACTERS } from "#server/schemas/execution.ts";
import { Graph } from "#server/schemas/graph.ts";
import { processId } from "#server/settings.ts";

/** How long a lease lasts without being renewed, in seconds. */
const LEASE_SECONDS = 30;
/** After this time without a live lease the sweeper asks for the run again, in seconds. */
const OVERDUE_SECONDS = 120;
/** How long a read is tried again while the database is away, in milliseconds. */
const OUTAGE_MS = 20_000;

/** The states in which a run has ended, as an SQL list. */
export const FINAL = `(${finalStatuses.map((status) => `'${status}'`).join(", ")})`;

/**
 * Runs a statement again while the server cannot be reached.
 * @param signal when given, tries go on until it fires: a finished model call is worth waiting for, and nobody can take
 *   the lease while the database is away
 */
async function query<Row extends pg.QueryResultRow>(name: string, text: string, values: unknown[], signal?: AbortSignal): Promise<Row[]> {
  const until = Date.now() + OUTAGE_MS;
  for (let delay = 100; ; delay = Math.min(delay * 2, 2000)) {
    try {
      return (await pool().query<Row>({ name, text, values })).rows;
    } catch (error) {
      const isOver = signal ? signal.aborted : Date.now() + delay > until;
      if (!isDatabaseAway(error) || isOver) throw error;
      await new Promise((resolve) => setTimeout(resolve, delay));
    }
  }
}

const ACQUIRE = `
  -- While nobody has carried it, whichever request comes first does: an older one only waited longer in the queue.
  UPDATE executions e SET
    lease_owner = $3, lease_epoch = lease_epoch + 1, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
    overdue_at = now() + make_interval(secs => ${LEASE_SECONDS + OVERDUE_SECONDS}),
    status = 'running', started_at = coalesce(started_at, now()), commit_no = 0
  FROM workflow_snapshots s, execution_values v
  WHERE e.id = $1 AND (e.dispatch = $2 OR e.lease_epoch = 0) AND e.status NOT IN ${FINAL} AND (e.lease_until IS NULL OR e.lease_until < now())
    AND s.id = e.snapshot_id AND v.execution_id = e.id
  RETURNING e.id, e.project_id, e.lease_epoch, e.created_at, e.started_at, s.graph, v.input, v.params`;

const LEDGER = `
  SELECT r.id, r.node_id, r.iteration, r.attempt, r.status, r.handle, v.output, r.error, r.started_at, r.completed_at, r.input_tokens, r.output_tokens
  FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 ORDER BY r.completed_at NULLS LAST, r.id`;

// One statement, so that results, events and the end of a run are there together or not at all.
const COMMIT = `
  WITH lease AS (
    UPDATE executions SET
      last_seq = last_seq + jsonb_array_length($4::jsonb), commit_no = $9,
      input_tokens = input_tokens + $6, output_tokens = output_tokens + $7,
      status = coalesce(($5::jsonb->>'status')::"ExecutionStatus", status),
      error = coalesce($5::jsonb->>'error', error),
      output_preview = coalesce(left($5::jsonb->>'output', ${PREVIEW_CHARACTERS}), output_preview),
      completed_at = CASE WHEN $5::jsonb IS NULL THEN completed_at ELSE now() END,
      lease_until = CASE WHEN $5::jsonb IS NULL THEN lease_until END,
      overdue_at = CASE WHEN $5::jsonb IS NULL THEN overdue_at END
    WHERE id = $1 AND lease_epoch = $2 AND commit_no = $9 - 1 AND status NOT IN ${FINAL}
    RETURNING last_seq - jsonb_array_length($4::jsonb) AS seq
  ), new_rows AS (
    SELECT r.* FROM lease, jsonb_to_recordset($3::jsonb) AS r(
      id uuid, node_id text, iteration text, attempt int, status "NodeStatus", handle text, error text, started_at timestamptz, completed_at timestamptz,
      duration_ms int, model text, input_tokens int, output_tokens int, input text, output text, tool_calls jsonb)
  ), written AS (
    INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens)
    SELECT id, $1, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens FROM new_rows
    ON CONFLICT (execution_id, node_id, iteration, attempt) DO UPDATE SET
      status = excluded.status, handle = excluded.handle, error = excluded.error, completed_at = excluded.completed_at, duration_ms = excluded.duration_ms,
      model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens
  ), valued AS (
    INSERT INTO node_run_values (node_run_id, input, output, tool_calls)
    SELECT id, input, output, tool_calls FROM new_rows WHERE input IS NOT NULL OR output IS NOT NULL
    ON CONFLICT (node_run_id) DO UPDATE SET output = excluded.output, tool_calls = excluded.tool_calls
  ), told AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT $1, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, jsonb_array_elements($4::jsonb) WITH ORDINALITY AS e(event, position)
  ), dropped AS (
    DELETE FROM execution_events WHERE execution_id = $1 AND type = 'node_delta' AND node_id = ANY($8) AND EXISTS (SELECT FROM lease)
  ), result AS (
    UPDATE execution_values SET output = $5::jsonb->>'output', outputs = $5::jsonb->'outputs' WHERE execution_id = $1 AND $5::jsonb IS NOT NULL AND EXISTS (SELECT FROM lease)
  )
  SELECT seq, pg_notify('treadle_execution', $1::text) FROM lease`;

const DELTAS = `
  WITH lease AS (
    UPDATE executions SET last_seq = last_seq + jsonb_array_length($3::jsonb)
    WHERE id = $1 AND lease_epoch = $2 AND status NOT IN ${FINAL}
    RETURNING last_seq - jsonb_array_length($3::jsonb) AS seq
  ), told AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT $1, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, jsonb_array_elements($3::jsonb) WITH ORDINALITY AS e(event, position)
  )
  SELECT pg_notify('treadle_execution', $1::text) FROM lease`;

/** Events as they are stored: with whose they are. */
const eventJson = (run: RunState, events: EventWrite[]) => json(events.map((event) => ({ ...event, execution_id: run.id })));
/** JSON that PostgreSQL can keep: without U+0000 and without halves of surrogate pairs, such as cutting a text may leave. */
const json = (value: unknown): string => JSON.stringify(value, (_, item) => (typeof item === "string" ? cleanText(item) : item));

async function acquire(execution_id: string, dispatch: number): Promise<Acquired> {
  type Row = Omit<RunState, "epoch" | "commits" | "ledger" | "params"> & { lease_epoch: number; params: Record<string, unknown> | null };
  const [row] = await query<Row>("run-acquire", ACQUIRE, [execution_id, dispatch, processId]);
  if (row) {
    const { lease_epoch, graph, params, ...rest } = row;
    const ledger = await query<LedgerRow>("run-ledger", LEDGER, [execution_id]);
    return { kind: "acquired", run: { ...rest, params: params ?? {}, graph: Graph.parse(graph), epoch: lease_epoch, commits: 0, ledger } };
  }
  const [held] = await query<{ lease_until: Date }>(
    "run-held",
    `SELECT lease_until FROM executions WHERE id = $1 AND dispatch = $2 AND status NOT IN ${FINAL} AND lease_until >= now()`,
    [execution_id, dispatch],
  );
  return held ? { kind: "busy", until: held.lease_until } : { kind: "over" };
}

async function commit(run: RunState, { rows, events, ending }: Commit, signal: AbortSignal): Promise<void> {
  const ended = rows.filter((row) => row.status !== "running");
  const sum = (field: "input_tokens" | "output_tokens") => ended.reduce((total, row) => total + row[field], 0);
  const restarted = events.flatMap((event) => (event.type === "node_start" ? [event.node_id] : []));
  const values = [
    run.id,
    run.epoch,
    json(lastOfEach(rows)),
    eventJson(run, events),
    ending ? json(ending) : null,
    sum("input_tokens"),
    sum("output_tokens"),
    [...ended.map((row) => row.node_id), ...restarted],
    run.commits + 1,
  ];
  const [written] = await query<{ seq: number }>("run-commit", COMMIT, values, signal);
  if (!written && !(await isWritten(run))) throw new LeaseLost("Another process carries this run.");
  run.commits += 1;
}

/** True when the next write is there already: it was made, and the answer was lost on the way. */
async function isWritten(run: RunState): Promise<boolean> {
  const rows = await query("run-is-written", "SELECT 1 FROM executions WHERE id = $1 AND lease_epoch = $2 AND commit_no = $3", [
    run.id,
    run.epoch,
    run.commits + 1,
  ]);
  return rows.length > 0;
}

/** A batch may hold the start and the end of one attempt; a statement may touch a row once only. */
function lastOfEach(rows: Commit["rows"]): Commit["rows"] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

async function deltas(run: RunState, events: EventWrite[]): Promise<void> {
  // Not worth a retry or a wait for the disk: the completed node holds the whole text.
  await pool().query({ name: "run-deltas", text: DELTAS, values: [run.id, run.epoch, eventJson(run, events)] });
}

async function renew(run: RunState): Promise<boolean> {
  const rows = await query(
    "run-renew",
    `UPDATE executions SET lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), overdue_at = now() + make_interval(secs => ${LEASE_SECONDS + OVERDUE_SECONDS})
     WHERE id = $1 AND lease_epoch = $2 AND status NOT IN ${FINAL} RETURNING 1`,
    [run.id, run.epoch],
  );
  return rows.length > 0;
}

async function release(run: RunState): Promise<void> {
  await query(
    "run-release",
    `UPDATE executions SET lease_until = NULL, overdue_at = now() + make_interval(secs => ${OVERDUE_SECONDS}) WHERE id = $1 AND lease_epoch = $2 AND status NOT IN ${FINAL}`,
    [run.id, run.epoch],
  );
}

/** The database side of the run loop. */
export const runStore: RunStore = {
  acquire,
  commit,
  deltas,
  renew,
  release,
  onControl: (execution_id, callback) => subscribe("treadle_control", execution_id, callback),
};

/**
 * Frees every lease. Only for the process that holds the data folder alone, at its start: whoever owned them is dead, and
 * waiting for the leases to end would cost half a minute.
 */
export async function freeAllLeases(): Promise<void> {
  await pool().query("UPDATE executions SET lease_until = NULL WHERE lease_until IS NOT NULL");
}
