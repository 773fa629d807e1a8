import type pg from "pg";
import { pool } from "#server/platform/db/client.ts";
import { named, raw, sql } from "#server/platform/db/sql.ts";
import { logRunEnd } from "#server/runs/log-run-end.ts";
import { type Commit, type EventWrite, LeaseLost, type RunState } from "#server/runs/ports.ts";
import { formatEnding, formatEvents, formatJson, formatRows } from "#server/runs/store/commit-json.ts";
import { commitStatement } from "#server/runs/store/commit-statement.ts";
import { LongTexts, mustWriteAhead } from "#server/runs/store/long-texts.ts";
import { wordsAtEnd } from "#server/runs/store/search-words.ts";
import { assertSpace, noteStored } from "#server/runs/store/space.ts";
import { FINAL, retryQuery } from "#server/runs/store/sql.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";

/** Row of `commitStatement`. */
interface Committed extends pg.QueryResultRow {
  seq: number;
  workflow_id: string;
  cost: number;
  duration_ms: number;
}

/** Implements RunStore.commit. */
export async function commit(run: RunState, { rows, events, ending, status, ...rest }: Commit, signal: AbortSignal): Promise<void> {
  if (!ending) assertSpace(run.project_id);

  const compiled = compileGraph(run.graph);
  const { waits = [], taken = [], withdrawn = [] } = rest;
  const mayWait = () => compiled.hasWaits || run.status === "paused" || run.ledger.some((row) => row.status === "waiting");
  const hasWaits = waits.length + taken.length + withdrawn.length > 0 || (ending !== undefined && mayWait());
  const ended = rows.filter((row) => row.status !== "running");
  const sum = (field: "input_tokens" | "output_tokens") => ended.reduce((total, row) => total + row[field], 0);
  const effects = rows.filter((row) => compiled.effects.has(row.node_id));
  // Only effects emit deltas. Those of an attempt come after its start, and before a first attempt there are none.
  const sources = effects.filter((row) => row.status !== "running" || row.attempt > 1);
  const startOf = ({ id }: { id: string }) => run.deltaFloors.get(id) ?? 0;

  const texts = new LongTexts(run);
  const long = { rows, waits, ...(ending && { ending }) };
  if (mustWriteAhead(long)) await texts.writeAhead(long, signal);
  const json = {
    rows: formatRows(rows, texts),
    events: formatEvents(run, events, texts),
    ending: ending ? formatEnding(ending, texts, wordsAtEnd(ending)) : null,
    waits: hasWaits ? formatJson({ waits: waits.map((wait) => texts.wait(wait)), taken, withdrawn }) : null,
  };
  const written = [run.id, run.holder, status, ...Object.values(json)];
  const bytes = written.reduce((total, text) => total + (text?.length ?? 0), texts.length);

  const statement = commitStatement({
    ...json,
    run,
    texts: texts.lists,
    status: status ?? null,
    input_tokens: sum("input_tokens"),
    output_tokens: sum("output_tokens"),
    bytes,
    sources: sources.map(sourceOf),
    deltasAfter: sources.length > 0 ? Math.min(...sources.map(startOf)) : 0,
    // An effect is on the disk before and after it, since it must not be repeated; pure nodes give the same result again. While an
    // effect is in flight, a lost commit of a pure node would lose the lease, and with it the result of the effect.
    isAsync: !hasWaits && effects.length === 0 && run.deltaFloors.size === 0,
    endsChild: ending !== undefined && run.parent_id !== null,
    hasCalls: ended.some((row) => row.agent_id !== undefined),
  });
  const [committed] = await retryQuery<Committed>(statement, signal);
  if (!committed && !(await isCommitted(run))) throw new LeaseLost("Another process carries this run.");

  texts.written();
  if (ending?.long) await texts.removeOutput();
  noteStored(run.project_id, "runs", bytes);
  noteCommit(run, effects, committed?.seq);
  if (ending && committed) {
    const { workflow_id, duration_ms, cost } = committed;
    logRunEnd({ execution_id: run.id, workflow_id, status: ending.status, duration_ms, cost });
  }
}

/**
 * Counts a commit of a run that is in the database.
 * @param rows of it: deltas of those that now run come after event `seq`
 */
export function noteCommit(run: RunState, rows: Commit["rows"], seq = 0): void {
  const { effects } = compileGraph(run.graph);

  run.commits += 1;
  for (const { id, node_id, status } of rows)
    if (status === "running" && effects.has(node_id)) run.deltaFloors.set(id, seq);
    else run.deltaFloors.delete(id);
}

/** Names a node in its iteration as the statement that drops its deltas does. */
const sourceOf = ({ node_id, iteration }: { node_id: string; iteration?: string | undefined }) => `${iteration ?? ""} ${node_id}`;

/** True when the next commit is there already: it was made, but the connection broke before the response. */
async function isCommitted({ id, holder, commits }: RunState): Promise<boolean> {
  const statement = sql`
    SELECT 1
    FROM executions
    WHERE id = ${id}
      AND lease_owner = ${holder}
      AND commit_no = ${commits + 1}`;

  return (await retryQuery(named("run-is-written", statement))).length > 0;
}

/**
 * True when the first write of a run is there: it was made, but the connection broke before the response.
 * @param signal ends the retries during a database outage
 */
export async function isAccepted({ id, holder }: RunState, signal: AbortSignal): Promise<boolean> {
  const statement = sql`
    SELECT 1
    FROM executions
    WHERE id = ${id}
      AND lease_owner = ${holder}`;

  return (await retryQuery(named("run-is-accepted", statement), signal)).length > 0;
}

const FINAL_STATUSES = raw(FINAL);

/** Implements RunStore.deltas. The completed node has the whole text, so a delta is worth no retry and no wait for the disk. */
export async function deltas({ id, holder }: RunState, events: EventWrite[]): Promise<void> {
  const statement = sql`
    WITH given AS NOT MATERIALIZED (
      SELECT ${formatEvents({ id }, events)}::jsonb AS events
    ), lease AS (
      UPDATE executions e
      SET last_seq = e.last_seq + jsonb_array_length(given.events)
      FROM given
      WHERE e.id = ${id}
        AND e.lease_owner = ${holder}
        AND e.status NOT IN ${FINAL_STATUSES}
      RETURNING e.id, e.last_seq - jsonb_array_length(given.events) AS seq
    ), emitted AS (
      INSERT INTO execution_events (execution_id, seq, type, node_id, data)
      SELECT lease.id, lease.seq + e.position, e.event->>'type', e.event->>'node_id', e.event
      FROM lease, given, jsonb_array_elements(given.events) WITH ORDINALITY AS e(event, position)
    )
    SELECT pg_notify('treadle_execution', lease.id::text)
    FROM lease`;

  await pool().query(named("run-deltas", statement));
}

/** Implements RunStore.closeOpen. */
export async function closeOpen({ id }: RunState): Promise<void> {
  const statement = sql`
    UPDATE node_runs
    SET status = 'skipped',
      completed_at = now()
    WHERE execution_id = ${id}
      AND status IN ('running', 'waiting')`;

  await retryQuery(named("run-close-open", statement));
}
