import type pg from "pg";
import { type BodyOutput, type EndedItems, ITEM, type ItemRow, type LedgerRow, type Past, type RunStore } from "#server/runs/ports.ts";
import { query } from "#server/runs/store/sql.ts";
import { bytesOfText, charactersOf, textOf } from "#server/runs/store/texts.ts";
import { compileGraph } from "#server/workflow/compiled-graph.ts";
import { MAX_OUTPUT } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

// What has happened in a run, as whoever takes it up needs it.

const LEDGER_FIELDS = `r.id, r.node_id, r.iteration, r.attempt, r.status, r.handle, ${textOf("output")} AS output, r.error,
  r.started_at, r.completed_at, r.input_tokens, r.output_tokens, r.items, r.is_interrupted, r.is_cut_off,
  -- What was printed, and tries of calls, are only shown.
  nullif(v.details - '{printed,agent_version,attempts}'::text[], '{}') AS details, CASE WHEN r.status = 'running' THEN ${textOf("input")} END AS input`;
const LEDGER = `
  SELECT ${LEDGER_FIELDS} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 ORDER BY r.completed_at NULLS LAST, r.id`;

// Of an iteration that has ended nothing is wanted: $2 says which loop's body a node belongs to. Said as a list to look up in and
// not as a join, which a planner that expects few rows would work through pair by pair; and never looked up for a node that is in
// no loop, since PostgreSQL goes through all of a list for a value that is null.
const notInEnded = (iteration: string) => `CASE WHEN $2::jsonb ? r.node_id THEN ($2::jsonb->>r.node_id, ${iteration}) NOT IN (
    SELECT ended.node_id, ended.iteration FROM node_runs ended
    WHERE ended.execution_id = $1 AND ended.handle = '${ITEM}') ELSE true END`;
const IN_LEDGER = `r.execution_id = $1 AND r.handle IS DISTINCT FROM '${ITEM}' AND ${notInEnded("r.iteration")}`;
const LEDGER_WITH_LOOPS = `
  SELECT ${LEDGER_FIELDS} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE ${IN_LEDGER}
  ORDER BY r.completed_at NULLS LAST, r.id`;
// Items end nearly in order, so a few spans stand for all of them.
const ITEMS_ENDED = `
  SELECT node_id, path, complete, failed, "isStopped", ARRAY(SELECT ARRAY[lower(span), upper(span)] FROM unnest(ended) AS span) AS spans FROM (
    SELECT node_id, path, range_agg(int4range(index, index + 1)) AS ended, count(*) FILTER (WHERE status = 'complete')::int AS complete,
      count(*) FILTER (WHERE status = 'failed')::int AS failed, bool_or(status = 'skipped') AS "isStopped"
    FROM (
      SELECT r.node_id, r.status, regexp_replace(r.iteration, '\\.?[^.]*$', '') AS path, substring(r.iteration from '[^.]*$')::int AS index
      FROM node_runs r WHERE r.execution_id = $1 AND r.handle = '${ITEM}'
    ) AS r WHERE ${notInEnded("r.path")} GROUP BY node_id, path) AS loops`;
/** The most that one character of a JavaScript text takes in UTF-8. */
const BYTES_PER_CHARACTER = 3;
const itemsOf = (selected: string) => `
  SELECT ${selected} FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = $2 AND r.handle = '${ITEM}' AND cardinality(string_to_array(r.iteration, '.')) = $3
    AND ($3 = 1 OR starts_with(r.iteration, $4 || '.'))`;
const ITEMS = itemsOf(`r.iteration, r.status, ${textOf("output")} AS output, r.error`);
const ITEMS_BYTES = itemsOf(`coalesce(sum(${bytesOfText("output")}), 0)::float8 AS bytes`);
export const BODY_OUTPUTS = `
  SELECT r.node_id, r.iteration, r.handle, ${textOf("output")} AS output FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = ANY($2) AND r.status = 'complete'`;
const BODY_OUTPUTS_BY_HANDLE = `${BODY_OUTPUTS} AND r.handle = ANY($3)`;

/** @param size of one, in bytes or characters */
const sizeOfOutputs = (size: string) => `
  SELECT coalesce(sum(${size}), 0)::float8 AS kept FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = ANY($2) AND r.status = 'complete'`;
export const BODY_OUTPUTS_BYTES = sizeOfOutputs(bytesOfText("output"));
const BODY_OUTPUTS_LENGTH = sizeOfOutputs(charactersOf("output"));

// Lengths in bytes are read without the texts themselves.
const BYTES = `
  SELECT (SELECT octet_length(input) + coalesce(octet_length(params::text), 0) FROM execution_values WHERE execution_id = $1)::float8
    + coalesce((SELECT sum(coalesce(${bytesOfText("output")}, 0)
        + CASE WHEN r.status = 'running' THEN coalesce(${bytesOfText("input")}, 0) ELSE 0 END)
      FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id WHERE ${IN_LEDGER}), 0)::float8 AS bytes`;

/** Estimates the memory in bytes of a run that is restored. */
export async function bytesOf(execution_id: string, graph: Graph): Promise<number> {
  const [row] = await query<{ bytes: number }>("run-bytes", BYTES, [execution_id, JSON.stringify(compileGraph(graph).owners)]);
  return row?.bytes ?? 0;
}

/** Input and parameters of a run. */
export interface GivenValues {
  input: string;
  params: Record<string, unknown> | null;
}

/** Returns what a run was started with. @throws Error when the run was deleted */
export async function givenValues(execution_id: string): Promise<GivenValues> {
  const text = "SELECT input, params FROM execution_values WHERE execution_id = $1";
  const [row] = await query<GivenValues & pg.QueryResultRow>("run-given", text, [execution_id]);
  if (!row) throw new Error("The run does not exist any more.");
  return row;
}

/** What has happened so far: rows, without the inside of iterations that have ended, and how far loops have come. */
export async function readPast(execution_id: string, graph: Graph): Promise<Past> {
  const { owners, bodyOutputs } = compileGraph(graph);
  if (Object.keys(owners).length === 0) return { ledger: await query<LedgerRow>("run-ledger", LEDGER, [execution_id]), items: [], kept: 0 };
  const inside = JSON.stringify(owners);
  const ledger = await query<LedgerRow>("run-ledger-with-loops", LEDGER_WITH_LOOPS, [execution_id, inside]);
  const items = await query<EndedItems>("run-items-ended", ITEMS_ENDED, [execution_id, inside]);
  return { ledger, items, kept: await keptBy(execution_id, bodyOutputs) };
}

/** Characters that Outputs inside loops have left behind; of few the bytes, which cost nothing to know. */
async function keptBy(execution_id: string, node_ids: readonly string[]): Promise<number> {
  if (node_ids.length === 0) return 0;
  const [bytes] = await query<{ kept: number }>("run-body-outputs-bytes", BODY_OUTPUTS_BYTES, [execution_id, node_ids]);
  if (!bytes || bytes.kept <= MAX_OUTPUT) return bytes?.kept ?? 0;
  const [characters] = await query<{ kept: number }>("run-body-outputs-length", BODY_OUTPUTS_LENGTH, [execution_id, node_ids]);
  return characters?.kept ?? 0;
}

/** Implements `RunStore.items`. */
export const items: RunStore["items"] = async (run, { node_id, path }) => {
  const values = [run.id, node_id, path === "" ? 1 : path.split(".").length + 1, path];
  const [size] = await query<{ bytes: number }>("run-items-bytes", ITEMS_BYTES, values);
  if (size && size.bytes > BYTES_PER_CHARACTER * MAX_OUTPUT) return size;
  return query<ItemRow>("run-items", ITEMS, values);
};

/** Implements RunStore.bodyOutputs. */
export const bodyOutputs: RunStore["bodyOutputs"] = (run, node_ids, handles) =>
  handles
    ? query<BodyOutput>("run-body-outputs-by-handle", BODY_OUTPUTS_BY_HANDLE, [run.id, node_ids, handles])
    : query<BodyOutput>("run-body-outputs", BODY_OUTPUTS, [run.id, node_ids]);
