import type pg from "pg";
import { cleanText } from "#server/platform/clean-text.ts";
import { pool } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { logRunEnd } from "#server/runs/log-run-end.ts";
import { type Commit, type Ending, type EventWrite, LeaseLost, type LedgerWrite, type RunState } from "#server/runs/ports.ts";
import { wordsAtEnd } from "#server/runs/store/search-words.ts";
import { assertSpace, noteStored } from "#server/runs/store/space.ts";
import { FINAL, query, queueForReadings } from "#server/runs/store/sql.ts";
import { insertTexts, LongTexts, mustWriteAhead, wholeText } from "#server/runs/store/texts.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

// What whoever executes a run writes of it. Each statement is one round trip and one transaction.

// What a run that waits writes besides: waits that begin, ends of waits taken, waits that nobody needs any more.
const WAITS = `
  ), opened AS (
    INSERT INTO waits (id, project_id, execution_id, node_id, iteration, reason, label, deadline, token_hash, request,
      title, description, display_value, display_value_hash, notification_email, text, text_hash, terms, remind_at)
    SELECT w.id, $15, $1, w.node_id, w.iteration, w.reason, w.label, w.deadline, decode(w.token_hash, 'hex'), w.request,
      coalesce(w.title, ''), coalesce(w.description, ''), coalesce(w.display_value, ${wholeText("$1", "w.display_value_hash")}, ''), w.display_value_hash, w.notification_email,
      coalesce(w.text, ${wholeText("$1", "w.text_hash")}), w.text_hash, w.terms, w.remind_at
    FROM lease, jsonb_to_recordset($14::jsonb->'waits') AS w(
      id uuid, node_id text, iteration text, reason "WaitReason", label text, deadline timestamptz, token_hash text, request jsonb,
      title text, description text, display_value text, display_value_hash text, notification_email text, text text, text_hash text, terms jsonb, remind_at timestamptz)
  ), taken AS (
    UPDATE waits SET taken_at = now() FROM lease WHERE id IN (SELECT value::uuid FROM jsonb_array_elements_text($14::jsonb->'taken'))
  ), withdrawn AS (
    UPDATE waits SET status = 'withdrawn', resolved_at = now() FROM lease
    WHERE execution_id = $1 AND status = 'waiting' AND ($5::jsonb IS NOT NULL OR EXISTS (
      SELECT FROM jsonb_to_recordset($14::jsonb->'withdrawn') AS w(node_id text, iteration text)
      WHERE w.node_id = waits.node_id AND w.iteration = waits.iteration)) RETURNING id
  ), seen AS (
    UPDATE notifications SET read_at = now() WHERE kind = 'review' AND subject_id IN (SELECT id FROM withdrawn) AND read_at IS NULL`;

// The run that waits for this one is to be told, and whoever sweeps finds that.
const UNTOLD = `
  ), untold AS (
    UPDATE waits SET notified_at = NULL FROM lease WHERE id = $1 AND reason = 'child'`;

/** Of a call that says no LLM key. */
const NO_KEY = "'00000000-0000-0000-0000-000000000000'";

// What calls of models cost, of rows that bear the agent which made one. Each call is a row of its own, since calls that end
// side by side would wait for each other at a sum.
const CALLS = {
  counted: `
  ), counted AS MATERIALIZED (
    SELECT coalesce(sum((r->>'cost')::numeric), 0) AS cost, coalesce(bool_or(r->>'cost' IS NULL), false) AS is_partial
    FROM jsonb_array_elements($3::jsonb) AS r WHERE r->>'agent_id' IS NOT NULL`,
  added: `
      cost = e.cost + counted.cost, cost_is_partial = e.cost_is_partial OR counted.is_partial,`,
  used: `
  ), used AS (
    INSERT INTO usage_calls (id, project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model, input_tokens, output_tokens, cost)
    SELECT r.id, lease.project_id, (r.completed_at AT TIME ZONE 'UTC')::date, 'run', lease.workflow_id, r.agent_id, coalesce(r.llm_key_id, ${NO_KEY}), r.provider, r.model,
      r.input_tokens, r.output_tokens, r.cost
    FROM new_rows r, lease WHERE r.agent_id IS NOT NULL`,
};
const NO_CALLS = { counted: "", added: "", used: "" };

const QUEUED = queueForReadings({ id: "$1::uuid", workflow_id: "lease.workflow_id", version: "lease.result_of" });

const ROW = `
      id uuid, node_id text, iteration text, attempt int, status "NodeStatus", handle text, error text, started_at timestamptz, completed_at timestamptz,
      duration_ms float8, model text, input_tokens int, output_tokens int, items int, is_interrupted boolean, is_cut_off boolean, input text, output text, tool_calls jsonb, details jsonb,
      input_hash text, output_hash text`;
const VALUES = "input, output, tool_calls, details, input_hash, output_hash";
const HAS_VALUES = "coalesce(input, output, input_hash, output_hash) IS NOT NULL OR details IS NOT NULL";
const ROW_FIELDS =
  "id, node_id, iteration, attempt, status, handle, error, started_at, completed_at, duration_ms, model, input_tokens, output_tokens, items";
const FLAGS = "is_interrupted, is_cut_off";
const FLAG_VALUES = "coalesce(is_interrupted, false), coalesce(is_cut_off, false)";

/**
 * Writes a run's rows and events beside its execution, for a run that has begun, or ended, when it is accepted. Nobody is
 * notified, since nobody can know of it yet.
 * @param rows and `events`: the parameters that hold them as JSON; they go to the one row of `begun`
 * @param texts the parameters that hold their long texts, if they have any
 */
export const firstWrite = (rows: string, events: string, texts?: [hashes: string, texts: string]): string => `
    new_rows AS MATERIALIZED (
      SELECT begun.id AS execution_id, r.* FROM begun, jsonb_to_recordset(${rows}::jsonb) AS r(${ROW})
    ), written AS (
      INSERT INTO node_runs (execution_id, ${ROW_FIELDS}, ${FLAGS}) SELECT execution_id, ${ROW_FIELDS}, ${FLAG_VALUES} FROM new_rows
    ), valued AS (
      INSERT INTO node_run_values (node_run_id, ${VALUES}) SELECT id, ${VALUES} FROM new_rows WHERE ${HAS_VALUES}
    ), told AS (
      INSERT INTO execution_events (execution_id, seq, type, node_id, data)
      SELECT begun.id, e.position, e.event->>'type', e.event->>'node_id', e.event
      FROM begun, jsonb_array_elements(${events}::jsonb) WITH ORDINALITY AS e(event, position)
    )${texts ? `, texts AS (${insertTexts("begun.id", "begun", ...texts)})` : ""}`;

/** `hasWaits`: that begin or end; `endsChild`: of a run that another one waits for; `hasCalls`: of models; `hasTexts`: long ones. */
interface CommitKind {
  hasWaits: boolean;
  endsChild: boolean;
  hasCalls: boolean;
  hasTexts: boolean;
}

// One statement, so that results, events and the end of a run are there together or not at all.
const commitSql = ({ hasWaits, endsChild, hasCalls, hasTexts }: CommitKind) => {
  const calls = hasCalls ? CALLS : NO_CALLS;
  const first = hasWaits ? 16 : 14;
  const texts = `
  ), texts AS (${insertTexts("$1", "lease", `$${first}`, `$${first + 1}`)}`;
  return `
  WITH quiet AS MATERIALIZED (SELECT CASE WHEN $11::boolean THEN set_config('synchronous_commit', 'off', true) END${calls.counted}
  ), lease AS (
    UPDATE executions e SET${calls.added}
      last_seq = last_seq + jsonb_array_length($4::jsonb), commit_no = $9, bytes = bytes + $13::bigint,
      input_tokens = input_tokens + $6, output_tokens = output_tokens + $7,
      status = coalesce(($5::jsonb->>'status')::"ExecutionStatus", $10::"ExecutionStatus", status),
      error = coalesce($5::jsonb->>'error', error),
      output_preview = coalesce(left($5::jsonb->>'output', ${PREVIEW_CHARACTERS}), output_preview),
      completed_at = CASE WHEN $5::jsonb IS NULL THEN completed_at ELSE now() END,
      lease_until = CASE WHEN $5::jsonb IS NULL THEN lease_until END,
      run_at = CASE WHEN $5::jsonb IS NULL THEN run_at END,
      -- A node has ended: whatever stopped a process before was not the next one's fault.
      crashes = CASE WHEN crashes > 0 AND NOT jsonb_path_exists($3::jsonb, '$[*] ? (@.status != "running" && !(@.is_interrupted == true))') THEN crashes ELSE 0 END
    FROM quiet${hasCalls ? ", counted" : ""} WHERE id = $1 AND lease_owner = $2 AND commit_no = $9 - 1 AND status NOT IN ${FINAL}
    RETURNING last_seq - jsonb_array_length($4::jsonb) AS seq, project_id, workflow_id, e.cost AS total_cost,
      round(extract(epoch FROM now() - created_at) * 1000)::float8 AS duration_ms,
      CASE WHEN $5::jsonb->>'status' IN ('completed', 'failed') THEN workflow_version END AS result_of
  ), new_rows AS (
    SELECT r.* FROM lease, jsonb_to_recordset($3::jsonb) AS r(${ROW}${hasCalls ? ", agent_id uuid, llm_key_id uuid, provider text, cost numeric, cached_tokens int" : ""})
  ), written AS (
    INSERT INTO node_runs (execution_id, ${ROW_FIELDS}, ${FLAGS}${hasCalls ? ", cost, cached_tokens" : ""})
    SELECT $1, ${ROW_FIELDS}, ${FLAG_VALUES}${hasCalls ? ", cost, coalesce(cached_tokens, 0)" : ""} FROM new_rows
    ON CONFLICT (execution_id, node_id, iteration, attempt) DO UPDATE SET
      status = excluded.status, handle = excluded.handle, error = excluded.error, completed_at = excluded.completed_at, duration_ms = excluded.duration_ms,
      is_interrupted = excluded.is_interrupted, is_cut_off = excluded.is_cut_off,
      model = excluded.model, input_tokens = excluded.input_tokens, output_tokens = excluded.output_tokens${hasCalls ? ", cost = excluded.cost, cached_tokens = excluded.cached_tokens" : ""}
  ), valued AS (
    INSERT INTO node_run_values (node_run_id, ${VALUES}) SELECT id, ${VALUES} FROM new_rows WHERE ${HAS_VALUES}
    ON CONFLICT (node_run_id) DO UPDATE SET output = excluded.output, output_hash = excluded.output_hash, tool_calls = excluded.tool_calls, details = excluded.details
  ), told AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT $1, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, jsonb_array_elements($4::jsonb) WITH ORDINALITY AS e(event, position)
  ), dropped AS (
    DELETE FROM execution_events WHERE execution_id = $1 AND cardinality($8::text[]) > 0 AND seq > $12 AND type = 'node_delta'
      AND EXISTS (SELECT FROM lease) AND concat(data->>'iteration', ' ', node_id) = ANY($8)
  ), result AS (
    UPDATE execution_values SET output = coalesce(${wholeText("$1", "$5::jsonb->>'output_hash'")}, $5::jsonb->>'output'), output_hash = $5::jsonb->>'kept_hash',
      outputs = $5::jsonb->'outputs',
      words = words || array_to_tsvector(ARRAY(SELECT jsonb_array_elements_text($5::jsonb->'words')))
    WHERE execution_id = $1 AND $5::jsonb IS NOT NULL AND EXISTS (SELECT FROM lease)${calls.used}${hasWaits ? WAITS : ""}${endsChild ? UNTOLD : ""}${hasTexts ? texts : ""}
  )
  SELECT seq, workflow_id, total_cost::float8 AS cost, duration_ms, pg_notify('treadle_execution', $1::text), ${QUEUED} FROM lease`;
};

interface Written {
  seq: number;
  workflow_id: string;
  cost: number;
  duration_ms: number;
}

const statements = new Map<string, { name: string; text: string }>();

/** The statement that writes what has happened in a run, by what that holds besides rows and events. */
function commitStatement(kind: CommitKind): { name: string; text: string } {
  const name = `run-commit${kind.hasWaits ? "-waits" : ""}${kind.endsChild ? "-child" : ""}${kind.hasCalls ? "-calls" : ""}${kind.hasTexts ? "-texts" : ""}`;
  const known = statements.get(name) ?? { name, text: commitSql(kind) };
  statements.set(name, known);
  return known;
}

/** Counts calls that were cut off: on their rows, which somebody else has closed by now, in the run and in the usage. */
const SPENT = `
  -- Locked first, as every other write of a run does.
  WITH run AS MATERIALIZED (SELECT id, project_id, workflow_id FROM executions WHERE id = $1 FOR UPDATE
  ), marked AS (
    UPDATE node_runs n SET model = s.model, input_tokens = s.input_tokens, cached_tokens = coalesce(s.cached_tokens, 0),
      output_tokens = s.output_tokens, cost = s.cost
    FROM run, jsonb_to_recordset($2::jsonb) AS s(
      id uuid, agent_id uuid, llm_key_id uuid, provider text, model text, input_tokens int, cached_tokens int, output_tokens int, cost numeric, tool_calls jsonb)
    WHERE n.id = s.id AND s.agent_id IS NOT NULL AND n.execution_id = run.id AND n.model IS NULL AND n.status NOT IN ('running', 'waiting')
    RETURNING s.*, coalesce(n.completed_at, now()) AS completed_at
  ), valued AS (
    UPDATE node_run_values v SET tool_calls = marked.tool_calls FROM marked WHERE v.node_run_id = marked.id
  ), used AS (
    INSERT INTO usage_calls (id, project_id, day, source, workflow_id, agent_id, llm_key_id, provider, model, input_tokens, output_tokens, cost)
    SELECT m.id, run.project_id, (m.completed_at AT TIME ZONE 'UTC')::date, 'run', run.workflow_id, m.agent_id, coalesce(m.llm_key_id, ${NO_KEY}), m.provider, m.model,
      m.input_tokens, m.output_tokens, m.cost
    FROM marked m, run
  )
  UPDATE executions e SET input_tokens = e.input_tokens + sums.input, output_tokens = e.output_tokens + sums.output,
    cost = e.cost + sums.cost, cost_is_partial = e.cost_is_partial OR sums.is_partial
  FROM (SELECT sum(input_tokens)::int AS input, sum(output_tokens)::int AS output, coalesce(sum(cost), 0) AS cost,
      bool_or(cost IS NULL) AS is_partial FROM marked HAVING count(*) > 0) AS sums
  WHERE e.id = $1`;

// Of calls that were stopped, what had come of their answers.
const STOPPED = `
  -- Locked first, since nothing else keeps the run from being deleted meanwhile.
  WITH run AS MATERIALIZED (SELECT id FROM executions WHERE id = $1 FOR UPDATE)
  INSERT INTO node_run_values AS v (node_run_id, output)
  SELECT n.id, s.output FROM run, node_runs n, jsonb_to_recordset($2::jsonb) AS s(id uuid, output text)
  WHERE n.id = s.id AND n.execution_id = run.id AND n.status = 'skipped' AND s.output IS NOT NULL
  ON CONFLICT (node_run_id) DO UPDATE SET output = excluded.output WHERE v.output IS NULL AND v.output_hash IS NULL`;

const DELTAS = `
  WITH lease AS (
    UPDATE executions SET last_seq = last_seq + jsonb_array_length($3::jsonb)
    WHERE id = $1 AND lease_owner = $2 AND status NOT IN ${FINAL}
    RETURNING last_seq - jsonb_array_length($3::jsonb) AS seq
  ), told AS (
    INSERT INTO execution_events (execution_id, seq, type, node_id, data)
    SELECT $1, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
    FROM lease, jsonb_array_elements($3::jsonb) WITH ORDINALITY AS e(event, position)
  )
  SELECT pg_notify('treadle_execution', $1::text) FROM lease`;

/** Events as they are stored: with whose they are. */
const eventJson = (run: Pick<RunState, "id">, events: EventWrite[], texts?: LongTexts) =>
  json(events.map((event) => ({ ...(texts?.event(event) ?? event), execution_id: run.id })));
const rowJson = (rows: Commit["rows"], texts: LongTexts) => json(lastOfEach(rows).map((row) => texts.row(row)));
/** @param words by which it is found, unless they are written apart */
const endingJson = (ending: Ending, texts: LongTexts, words?: string[]) => json({ ...texts.ending(ending), words });
/** JSON that PostgreSQL can keep: without U+0000 and without halves of surrogate pairs, such as cutting a text may leave. */
function json(value: unknown): string {
  const text = JSON.stringify(value);
  // Both are written as escapes; a text that holds none, as nearly all, is not gone through again.
  if (!/\\u(?:0000|d[89a-f])/.test(text)) return text;
  return JSON.stringify(value, (_, item) => (typeof item === "string" ? cleanText(item) : item));
}

/** Writes all of it or nothing; see `RunStore`. */
export async function commit(run: RunState, { rows, events, ending, status, ...rest }: Commit, signal: AbortSignal): Promise<void> {
  if (!ending) assertSpace(run.project_id);
  const compiled = compileGraph(run.graph);
  const ended = rows.filter((row) => row.status !== "running");
  const { waits = [], taken = [], withdrawn = [] } = rest;
  const mayWait = () => compiled.hasWaits || run.status === "paused" || run.ledger.some((row) => row.status === "waiting");
  const hasWaits = waits.length + taken.length + withdrawn.length > 0 || (ending !== undefined && mayWait());
  const sum = (field: "input_tokens" | "output_tokens") => ended.reduce((total, row) => total + row[field], 0);
  const effects = rows.filter((row) => compiled.effects.has(row.node_id));
  // Only effects tell pieces. Those of an attempt come after its start, and before a first one there are none.
  const talked = effects.filter((row) => row.status !== "running" || row.attempt > 1);
  const first = talked.reduce((least, row) => Math.min(least, run.toldFrom.get(row.id) ?? 0), Number.MAX_SAFE_INTEGER);
  const texts = new LongTexts(run);
  const long = { rows, waits, ...(ending && { ending }) };
  if (mustWriteAhead(long)) await texts.writeAhead(long, signal);
  const values: unknown[] = [
    run.id,
    run.holder,
    rowJson(rows, texts),
    eventJson(run, events, texts),
    ending ? endingJson(ending, texts, wordsAtEnd(ending)) : null,
    sum("input_tokens"),
    sum("output_tokens"),
    talked.map(sourceOf),
    run.commits + 1,
    status ?? null,
    // What an effect did, or is about to do, is on the disk before the run goes on; pure nodes give the same again. While
    // an effect is under way nothing may be lost either: its result could no longer be written after it.
    !hasWaits && effects.length === 0 && run.toldFrom.size === 0,
    talked.length ? first : 0,
  ];
  const waiting = hasWaits ? json({ waits: waits.map((wait) => texts.wait(wait)), taken, withdrawn }) : "";
  const bytes = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), texts.length + waiting.length);
  values.push(bytes);
  if (hasWaits) values.push(waiting, run.project_id);
  if (texts.lists) values.push(...texts.lists);
  const hasCalls = ended.some((row) => row.agent_id !== undefined);
  const endsChild = ending !== undefined && run.parent_id !== null;
  const { name, text } = commitStatement({ hasWaits, endsChild, hasCalls, hasTexts: texts.lists !== undefined });
  const [written] = await query<Written & pg.QueryResultRow>(name, text, values, signal);
  if (!written && !(await isWritten(run))) throw new LeaseLost("Another process carries this run.");
  texts.written();
  if (ending?.long) await texts.removeOutput();
  noteStored(run.project_id, "runs", bytes);
  noteCommit(run, effects, written?.seq);
  if (ending && written) {
    const { workflow_id, duration_ms, cost } = written;
    logRunEnd({ execution_id: run.id, workflow_id, status: ending.status, duration_ms, cost });
  }
}

/**
 * Takes note that one more of a run's writes is in the database.
 * @param rows of it; what effects tell from now on stands behind `seq`
 */
export function noteCommit(run: RunState, rows: Commit["rows"], seq = 0): void {
  const { effects } = compileGraph(run.graph);
  run.commits += 1;
  for (const { id, node_id, status } of rows)
    if (status === "running" && effects.has(node_id)) run.toldFrom.set(id, seq);
    else run.toldFrom.delete(id);
}

/** Names a node in its iteration, as the statement that drops its pieces does. */
const sourceOf = ({ node_id, iteration }: { node_id: string; iteration?: string | undefined }) => `${iteration ?? ""} ${node_id}`;

/** True when the next write is there already: it was made, and the answer was lost on the way. */
async function isWritten(run: RunState): Promise<boolean> {
  const rows = await query("run-is-written", "SELECT 1 FROM executions WHERE id = $1 AND lease_owner = $2 AND commit_no = $3", [
    run.id,
    run.holder,
    run.commits + 1,
  ]);
  return rows.length > 0;
}

/**
 * True when the first write of a run is there: it was made, and the answer was lost on the way.
 * @param signal until when to ask a database that is away
 */
export async function isAccepted({ id, holder }: RunState, signal: AbortSignal): Promise<boolean> {
  return (await query("run-is-accepted", "SELECT 1 FROM executions WHERE id = $1 AND lease_owner = $2", [id, holder], signal)).length > 0;
}

/**
 * What `firstWrite` writes, as parameters: the rows and the events of a run that was never written before, and its ending if
 * it has ended.
 * @param texts takes the long ones, which are parameters of their own
 */
export const firstValues = (run: Pick<RunState, "id">, { rows, events, ending }: Commit, texts: LongTexts): string[] => [
  rowJson(rows, texts),
  eventJson(run, events, texts),
  ...(ending ? [endingJson(ending, texts)] : []),
];

/** A batch may hold the start and the end of one attempt; a statement may touch a row once only. */
function lastOfEach(rows: Commit["rows"]): Commit["rows"] {
  return [...new Map(rows.map((row) => [row.id, row])).values()];
}

/** Tells viewers pieces of running nodes. */
export async function deltas(run: RunState, events: EventWrite[]): Promise<void> {
  // Not worth a retry or a wait for the disk: the completed node holds the whole text.
  await pool().query({ name: "run-deltas", text: DELTAS, values: [run.id, run.holder, eventJson(run, events)] });
}

/** Counts what calls had used whose results could not be written; see `RunStore`. */
export async function spent(run: RunState, rows: LedgerWrite[]): Promise<void> {
  try {
    await query("run-spent", SPENT, [run.id, json(rows)]);
    const partial = rows.flatMap(({ id, output }) => (output === null ? [] : [{ id, output }]));
    if (partial.length) await query("run-stopped", STOPPED, [run.id, json(partial)]);
  } catch (error) {
    log.warn({ err: error, execution_id: run.id }, "what calls of a run had used that is over here could not be counted");
  }
}

/** Marks whatever is open in the ledger as skipped. */
export async function closeOpen(run: RunState): Promise<void> {
  await query(
    "run-close-open",
    "UPDATE node_runs SET status = 'skipped', completed_at = now() WHERE execution_id = $1 AND status IN ('running', 'waiting')",
    [run.id],
  );
}
