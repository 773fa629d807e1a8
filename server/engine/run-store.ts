import type pg from "pg";
import { cleanText } from "#server/clean-text.ts";
import { pool } from "#server/db/client.ts";
import { subscribe } from "#server/db/notify.ts";
import { definitionOf } from "#server/engine/graph.ts";
import { makePlan } from "#server/engine/plan.ts";
import {
  type Acquired,
  type Commit,
  type EventWrite,
  ITEM,
  LeaseLost,
  type LedgerRow,
  type ReviewState,
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
/** The same for a run that only waits for people, which looks again by itself each hour at least. */
const WAIT_OVERDUE_SECONDS = 3 * 3600;
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
    -- A paused run stays so until somebody has decided: looking at it changes nothing.
    status = CASE WHEN status = 'paused' THEN status ELSE 'running' END, started_at = coalesce(started_at, now()), commit_no = 0
  FROM workflow_snapshots s, execution_values v
  WHERE e.id = $1 AND (e.dispatch = $2 OR e.lease_epoch = 0) AND e.status NOT IN ${FINAL} AND (e.lease_until IS NULL OR e.lease_until < now())
    AND s.id = e.snapshot_id AND v.execution_id = e.id
  RETURNING e.id, e.project_id, e.status, e.lease_epoch, e.created_at, e.started_at, e.rerun_of_id, s.graph, v.input, v.params`;

const LEDGER_FIELDS = `r.id, r.node_id, r.iteration, r.attempt, r.status, r.handle, v.output, r.error, r.started_at, r.completed_at,
  r.input_tokens, r.output_tokens, r.items, CASE WHEN r.status = 'running' THEN v.input END AS input`;
const LEDGER = `
  SELECT ${LEDGER_FIELDS} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 ORDER BY r.completed_at NULLS LAST, r.id`;

// Of an iteration that has ended only its result is wanted: $2 says which loop's body a node belongs to.
const LEDGER_WITH_LOOPS = `
  SELECT ${LEDGER_FIELDS} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND NOT EXISTS (
    SELECT FROM node_runs ended WHERE ended.execution_id = $1 AND ended.node_id = $2::jsonb->>r.node_id AND ended.handle = '${ITEM}'
      AND ended.iteration = CASE WHEN r.handle = '${ITEM}' THEN regexp_replace(r.iteration, '\\.?[^.]*$', '') ELSE r.iteration END)
  ORDER BY r.completed_at NULLS LAST, r.id`;

// What a run that asks people writes besides: reviews that begin, decisions taken, reviews that nobody needs any more.
const REVIEWS = `
  ), asked AS (
    INSERT INTO reviews (id, project_id, execution_id, node_id, iteration, label, title, description, display_value, notification_email, due_at)
    SELECT r.id, $12, $1, r.node_id, r.iteration, r.label, r.title, r.description, r.display_value, r.notification_email, r.due_at
    FROM lease, jsonb_to_recordset($11::jsonb->'reviews') AS r(
      id uuid, node_id text, iteration text, label text, title text, description text, display_value text, notification_email text, due_at timestamptz)
  ), taken AS (
    UPDATE reviews SET taken_at = now() FROM lease WHERE id IN (SELECT value::uuid FROM jsonb_array_elements_text($11::jsonb->'taken'))
  ), withdrawn AS (
    UPDATE reviews SET status = 'withdrawn', decided_at = now() FROM lease
    WHERE execution_id = $1 AND status = 'waiting' AND ($5::jsonb IS NOT NULL OR EXISTS (
      SELECT FROM jsonb_to_recordset($11::jsonb->'withdrawn') AS w(node_id text, iteration text)
      WHERE w.node_id = reviews.node_id AND w.iteration = reviews.iteration))`;

// One statement, so that results, events and the end of a run are there together or not at all.
const commitSql = (withReviews: string) => `
  WITH lease AS (
    UPDATE executions SET
      last_seq = last_seq + jsonb_array_length($4::jsonb), commit_no = $9,
      input_tokens = input_tokens + $6, output_tokens = output_tokens + $7,
      status = coalesce(($5::jsonb->>'status')::"ExecutionStatus", $10::"ExecutionStatus", status),
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
      duration_ms int, model text, input_tokens int, output_tokens int, items int, input text, output text, tool_calls jsonb)
  ), written AS (
    INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens, items)
    SELECT id, $1, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens, items FROM new_rows
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
    DELETE FROM execution_events WHERE execution_id = $1 AND type = 'node_delta' AND EXISTS (SELECT FROM lease)
      AND concat(data->>'iteration', ' ', node_id) = ANY($8)
  ), result AS (
    UPDATE execution_values SET output = $5::jsonb->>'output', outputs = $5::jsonb->'outputs' WHERE execution_id = $1 AND $5::jsonb IS NOT NULL AND EXISTS (SELECT FROM lease)${withReviews}
  )
  SELECT seq, pg_notify('treadle_execution', $1::text) FROM lease`;
const COMMIT = commitSql("");
const COMMIT_WITH_REVIEWS = commitSql(REVIEWS);

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
  type Row = Omit<RunState, "epoch" | "commits" | "ledger" | "params"> & {
    lease_epoch: number;
    rerun_of_id: string | null;
    params: Record<string, unknown> | null;
  };
  const [row] = await query<Row>("run-acquire", ACQUIRE, [execution_id, dispatch, processId]);
  if (row) {
    const { lease_epoch, graph, params, ...rest } = row;
    const known = Graph.parse(graph);
    const ledger = lease_epoch === 1 && !rest.rerun_of_id ? [] : await readLedger(execution_id, known);
    return { kind: "acquired", run: { ...rest, params: params ?? {}, graph: known, epoch: lease_epoch, commits: 0, ledger } };
  }
  const [held] = await query<{ lease_until: Date }>(
    "run-held",
    `SELECT lease_until FROM executions WHERE id = $1 AND dispatch = $2 AND status NOT IN ${FINAL} AND lease_until >= now()`,
    [execution_id, dispatch],
  );
  return held ? { kind: "busy", until: held.lease_until } : { kind: "over" };
}

/** What has happened so far, without the inside of iterations that have ended; Output nodes in there are results of the run. */
async function readLedger(execution_id: string, graph: Graph): Promise<LedgerRow[]> {
  const hasLoops = graph.nodes.some((node) => definitionOf(node.type)?.body);
  if (!hasLoops) return query<LedgerRow>("run-ledger", LEDGER, [execution_id]);
  const plan = makePlan(graph);
  const inside = graph.nodes.flatMap(({ id, type }) => (definitionOf(type)?.group === "output" ? [] : [[id, plan.ownerOf(id)] as const]));
  const owners = Object.fromEntries(inside.filter(([, owner]) => owner !== null));
  return query<LedgerRow>("run-ledger-with-loops", LEDGER_WITH_LOOPS, [execution_id, JSON.stringify(owners)]);
}

async function commit(run: RunState, { rows, events, ending, status, ...rest }: Commit, signal: AbortSignal): Promise<void> {
  const ended = rows.filter((row) => row.status !== "running");
  const { reviews = [], taken = [], withdrawn = [] } = rest;
  const asksPeople = reviews.length + taken.length + withdrawn.length > 0 || (ending !== undefined && hasReviews(run));
  const sum = (field: "input_tokens" | "output_tokens") => ended.reduce((total, row) => total + row[field], 0);
  const restarted = events.flatMap((event) => (event.type === "node_start" ? [sourceOf(event)] : []));
  const values: unknown[] = [
    run.id,
    run.epoch,
    json(lastOfEach(rows)),
    eventJson(run, events),
    ending ? json(ending) : null,
    sum("input_tokens"),
    sum("output_tokens"),
    [...ended.map(sourceOf), ...restarted],
    run.commits + 1,
    status ?? null,
  ];
  if (asksPeople) values.push(json({ reviews, taken, withdrawn }), run.project_id);
  const [written] = asksPeople
    ? await query<{ seq: number }>("run-commit-with-reviews", COMMIT_WITH_REVIEWS, values, signal)
    : await query<{ seq: number }>("run-commit", COMMIT, values, signal);
  if (!written && !(await isWritten(run))) throw new LeaseLost("Another process carries this run.");
  run.commits += 1;
}

/** True when a review of this run may be waiting. */
const hasReviews = (run: RunState) => run.graph.nodes.some((node) => definitionOf(node.type)?.group === "human");

/** Names a node in its iteration, as the statement that drops its pieces does. */
const sourceOf = ({ node_id, iteration }: { node_id: string; iteration?: string | undefined }) => `${iteration ?? ""} ${node_id}`;

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

async function release(run: RunState, wait?: { wake_at: Date | null }): Promise<void> {
  const seconds = wait ? WAIT_OVERDUE_SECONDS : OVERDUE_SECONDS;
  await query(
    "run-release",
    `UPDATE executions SET lease_until = NULL, wake_at = $3, overdue_at = now() + make_interval(secs => $4) WHERE id = $1 AND lease_epoch = $2 AND status NOT IN ${FINAL}`,
    [run.id, run.epoch, wait?.wake_at ?? null, seconds],
  );
}

const TIMEOUT = `
  UPDATE reviews SET status = 'rejected', via = 'timeout', decided_at = now()
  WHERE execution_id = $1 AND status = 'waiting' AND due_at <= $2::timestamptz + interval '1 second'`;
const REVIEW_STATES = `
  SELECT id, node_id, iteration, status, comment, due_at FROM reviews
  WHERE execution_id = $1 AND (status = 'waiting' OR (status IN ('approved', 'rejected') AND taken_at IS NULL)) ORDER BY decided_at NULLS LAST, id`;

async function reviews(run: RunState, now: Date): Promise<ReviewState[]> {
  await query("run-reviews-timeout", TIMEOUT, [run.id, now]);
  return query<ReviewState>("run-reviews", REVIEW_STATES, [run.id]);
}

/** The database side of the run loop. */
export const runStore: RunStore = {
  acquire,
  commit,
  deltas,
  renew,
  release,
  reviews,
  onControl: (execution_id, callback) => subscribe("treadle_control", execution_id, callback),
};

/**
 * Frees every lease. Only for the process that holds the data folder alone, at its start: whoever owned them is dead, and
 * waiting for the leases to end would cost half a minute.
 */
export async function freeAllLeases(): Promise<void> {
  await pool().query("UPDATE executions SET lease_until = NULL WHERE lease_until IS NOT NULL");
}
