import type pg from "pg";
import { named, raw, type Sql, sql, when } from "#server/platform/db/sql.ts";
import { type BodyOutput, type EndedItems, ITEM, type ItemRow, type LedgerRow, type Past, type RunStore } from "#server/runs/ports.ts";
import { retryQuery } from "#server/runs/store/sql.ts";
import { bytesOfText, charactersOf, textOf } from "#server/runs/store/texts.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { MAX_OUTPUT } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

// The history of a run, for the process that claims it. `r` is node_runs, `v` the values beside it.

const OUTPUT = raw(textOf("output"));
const OUTPUT_BYTES = raw(bytesOfText("output"));
const OUTPUT_CHARACTERS = raw(charactersOf("output"));
const INPUT = raw(textOf("input"));
const INPUT_BYTES = raw(bytesOfText("input"));
const ITEM_HANDLE = raw(`'${ITEM}'`);

const LEDGER_COLUMNS = sql`
      r.id, r.node_id, r.iteration, r.attempt, r.status, r.handle, ${OUTPUT} AS output, r.error,
      r.started_at, r.completed_at, r.input_tokens, r.output_tokens, r.items, r.is_interrupted, r.is_cut_off,
      -- Printed text and attempts of calls are for people only.
      nullif(v.details - '{printed,agent_version,attempts}'::text[], '{}') AS details,
      CASE WHEN r.status = 'running' THEN ${INPUT} END AS input`;

/** CTE `given` for conditions over the loops of a run: each occurrence becomes the parameter itself. `owners`: loop of each node in one. */
const given = (execution_id: string, graph: Graph): Sql => sql`
    WITH given AS NOT MATERIALIZED (
      SELECT ${execution_id}::uuid AS execution_id,
        ${JSON.stringify(compileGraph(graph).owners)}::jsonb AS owners
    )`;

/**
 * Condition: the iteration of the loop around a node has not ended. A list to look up in, since a planner that expects few rows would
 * nest a join. A node outside of loops is not looked up: PostgreSQL goes through the whole list for a null.
 */
const notInEnded = (iteration: Sql): Sql => sql`
        CASE
          WHEN given.owners ? r.node_id THEN (given.owners->>r.node_id, ${iteration}) NOT IN (
            SELECT ended.node_id, ended.iteration
            FROM node_runs ended
            WHERE ended.execution_id = given.execution_id
              AND ended.handle = ${ITEM_HANDLE})
          ELSE true
        END`;

/** Condition: a row is part of the ledger with which a run goes on. */
const IN_LEDGER = sql`r.execution_id = given.execution_id
        AND r.handle IS DISTINCT FROM ${ITEM_HANDLE}
        AND ${notInEnded(raw("r.iteration"))}`;
const PATH_NOT_IN_ENDED = notInEnded(raw("r.path"));

/** Estimates the memory in bytes of a run that is restored. Lengths in bytes are read without the texts. */
export async function bytesOf(execution_id: string, graph: Graph): Promise<number> {
  const statement = sql`${given(execution_id, graph)}
    SELECT (
      SELECT octet_length(input) + coalesce(octet_length(params::text), 0)
      FROM execution_values
      WHERE execution_id = given.execution_id
    )::float8 + coalesce((
      SELECT sum(coalesce(${OUTPUT_BYTES}, 0) + CASE WHEN r.status = 'running' THEN coalesce(${INPUT_BYTES}, 0) ELSE 0 END)
      FROM node_runs r
      JOIN node_run_values v ON v.node_run_id = r.id
      WHERE ${IN_LEDGER}
    ), 0)::float8 AS bytes
    FROM given`;

  const [row] = await retryQuery<{ bytes: number }>(named("run-bytes", statement));
  return row?.bytes ?? 0;
}

/** Input and parameters of a run. */
export interface GivenValues {
  input: string;
  params: Record<string, unknown> | null;
}

/** Returns the input and parameters of a run. @throws Error when the run was deleted */
export async function givenValues(execution_id: string): Promise<GivenValues> {
  const statement = sql`
    SELECT input, params
    FROM execution_values
    WHERE execution_id = ${execution_id}`;

  const [row] = await retryQuery<GivenValues & pg.QueryResultRow>(named("run-given", statement));
  if (!row) throw new Error("The run does not exist any more.");
  return row;
}

/** Returns the history of a run: rows without the inside of iterations that have ended, and the progress of loops. */
export async function readPast(execution_id: string, graph: Graph): Promise<Past> {
  const { owners, bodyOutputs } = compileGraph(graph);
  if (Object.keys(owners).length === 0) return { ledger: await readLedger(execution_id), items: [], kept: 0 };

  const ledger = await readOpenLedger(execution_id, graph);
  const items = await readEndedItems(execution_id, graph);
  return { ledger, items, kept: await lengthOfBodyOutputs(execution_id, bodyOutputs) };
}

/** Returns all rows of a run without loops. */
async function readLedger(execution_id: string): Promise<LedgerRow[]> {
  const statement = sql`
    SELECT ${LEDGER_COLUMNS}
    FROM node_runs r
    LEFT JOIN node_run_values v ON v.node_run_id = r.id
    WHERE r.execution_id = ${execution_id}
    ORDER BY r.completed_at NULLS LAST, r.id`;

  return retryQuery<LedgerRow>(named("run-ledger", statement));
}

/** Returns the rows of a run with loops that are not inside an ended iteration. */
async function readOpenLedger(execution_id: string, graph: Graph): Promise<LedgerRow[]> {
  const statement = sql`${given(execution_id, graph)}
    SELECT ${LEDGER_COLUMNS}
    FROM given, node_runs r
    LEFT JOIN node_run_values v ON v.node_run_id = r.id
    WHERE ${IN_LEDGER}
    ORDER BY r.completed_at NULLS LAST, r.id`;

  return retryQuery<LedgerRow>(named("run-ledger-with-loops", statement));
}

/** Returns the ended items of loops. Items end nearly in order, so a few spans are enough for all of them. */
async function readEndedItems(execution_id: string, graph: Graph): Promise<EndedItems[]> {
  const statement = sql`${given(execution_id, graph)}
    SELECT node_id, path, complete, failed, "isStopped",
      ARRAY(SELECT ARRAY[lower(span), upper(span)] FROM unnest(ended) AS span) AS spans
    FROM (
      SELECT node_id, path,
        range_agg(int4range(index, index + 1)) AS ended,
        count(*) FILTER (WHERE status = 'complete')::int AS complete,
        count(*) FILTER (WHERE status = 'failed')::int AS failed,
        bool_or(status = 'skipped') AS "isStopped"
      FROM given, (
        SELECT r.node_id, r.status,
          regexp_replace(r.iteration, '\\.?[^.]*$', '') AS path,
          substring(r.iteration from '[^.]*$')::int AS index
        FROM node_runs r
        WHERE r.execution_id = ${execution_id}
          AND r.handle = ${ITEM_HANDLE}
      ) AS r
      WHERE ${PATH_NOT_IN_ENDED}
      GROUP BY node_id, path
    ) AS loops`;

  return retryQuery<EndedItems>(named("run-items-ended", statement));
}

/** Rows of Output nodes in every iteration, as far as they are complete. */
const fromBodyOutputs = (execution_id: string, node_ids: readonly string[]): Sql => sql`
    FROM node_runs r
    JOIN node_run_values v ON v.node_run_id = r.id
    WHERE r.execution_id = ${execution_id}
      AND r.node_id = ANY(${node_ids})
      AND r.status = 'complete'`;

/** Sums the bytes of the outputs of these nodes in every iteration, as `kept`. */
export const bodyOutputBytes = (execution_id: string, node_ids: readonly string[]): Sql => sql`
    SELECT coalesce(sum(${OUTPUT_BYTES}), 0)::float8 AS kept
    ${fromBodyOutputs(execution_id, node_ids)}`;

/** Returns the characters of Output nodes inside loops; of short ones the bytes, which are read without the texts. */
async function lengthOfBodyOutputs(execution_id: string, node_ids: readonly string[]): Promise<number> {
  if (node_ids.length === 0) return 0;

  const [bytes] = await retryQuery<{ kept: number }>(named("run-body-outputs-bytes", bodyOutputBytes(execution_id, node_ids)));
  if (!bytes || bytes.kept <= MAX_OUTPUT) return bytes?.kept ?? 0;

  const statement = sql`
    SELECT coalesce(sum(${OUTPUT_CHARACTERS}), 0)::float8 AS kept
    ${fromBodyOutputs(execution_id, node_ids)}`;
  const [characters] = await retryQuery<{ kept: number }>(named("run-body-outputs-length", statement));
  return characters?.kept ?? 0;
}

/** Bytes of a character of JavaScript in UTF-8, at most. */
const MAX_BYTES_PER_CHARACTER = 3;

/** Implements RunStore.items. */
export const items: RunStore["items"] = async (run, { node_id, path }) => {
  const depth = path === "" ? 1 : path.split(".").length + 1;
  const rows = sql`
    FROM node_runs r
    LEFT JOIN node_run_values v ON v.node_run_id = r.id
    WHERE r.execution_id = ${run.id}
      AND r.node_id = ${node_id}
      AND r.handle = ${ITEM_HANDLE}
      AND cardinality(string_to_array(r.iteration, '.')) = ${depth}
      AND starts_with(r.iteration, ${path === "" ? "" : `${path}.`})`;

  const size = sql`
    SELECT coalesce(sum(${OUTPUT_BYTES}), 0)::float8 AS bytes
    ${rows}`;
  const [found] = await retryQuery<{ bytes: number }>(named("run-items-bytes", size));
  if (found && found.bytes > MAX_BYTES_PER_CHARACTER * MAX_OUTPUT) return found;

  const statement = sql`
    SELECT r.iteration, r.status, ${OUTPUT} AS output, r.error
    ${rows}`;
  return retryQuery<ItemRow>(named("run-items", statement));
};

/** Implements RunStore.bodyOutputs. */
export const bodyOutputs: RunStore["bodyOutputs"] = (run, node_ids, handles) => {
  const statement = sql`
    SELECT r.node_id, r.iteration, r.handle, ${OUTPUT} AS output
    ${fromBodyOutputs(run.id, node_ids)}
    ${when(handles !== undefined, sql`AND r.handle = ANY(${handles})`)}`;

  return retryQuery<BodyOutput>(named(handles ? "run-body-outputs-by-handle" : "run-body-outputs", statement));
};
