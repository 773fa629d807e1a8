import type { NodeRun } from "#prisma/generated/client.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { named } from "#server/platform/db/sql.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { callbackOf } from "#server/runs/callback-token.ts";
import { ITEM } from "#server/runs/ports.ts";
import { type ItemSums, idleResult, type LastItem, type LoopItems, type NodeOutputInput, type NodeResult } from "#server/runs/schema.ts";
import type { ExecutionStatus, NodeStatus } from "#server/runs/status-schema.ts";
import { bodyOutputBytes } from "#server/runs/store/past.ts";
import { beginningOf, bytesOfText, charactersOf, readable, readableBytes, textOf, textOfNodeRun } from "#server/runs/store/texts.ts";
import { isFinal, isStopped } from "#server/shared/execution-status.ts";
import { definitionOf, goesOnAfterFailure } from "#server/workflow/graph.ts";
import { LARGE_OUTPUT, outputUrl, PREVIEW_CHARACTERS, toldOutput } from "#server/workflow/output-size.ts";
import { pinOf } from "#server/workflow/pins.ts";
import { type Graph, type GraphNode, MAX_PINNED } from "#server/workflow/schema.ts";

const OUTPUT_BYTES = bytesOfText("output");
const SMALL = `output_length IS NULL OR output_length <= ${LARGE_OUTPUT}`;

// Of a node inside a loop the latest iteration speaks. Of a large output the beginning is read.
const RESULTS = `
  WITH latest AS (
    SELECT DISTINCT ON (r.node_id) r.id, r.execution_id, r.node_id, r.iteration, r.status, r.error, r.duration_ms, r.started_at, r.completed_at,
      r.input_tokens, r.output_tokens, CASE WHEN r.model IS NULL THEN 0 ELSE r.cost::float8 END AS cost, r.attempt, r.reused, r.is_cut_off
    FROM node_runs r
    WHERE r.execution_id = $1 AND r.handle IS DISTINCT FROM '${ITEM}'
    ORDER BY r.node_id, string_to_array(r.iteration, '.')::int[] DESC, r.attempt DESC
  ), measured AS (
    SELECT r.*, ${OUTPUT_BYTES} AS bytes, CASE WHEN ${OUTPUT_BYTES} > ${LARGE_OUTPUT} THEN ${charactersOf("output")} END AS output_length
    FROM latest r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  )
  SELECT r.id, r.node_id, r.iteration, r.status, r.error, r.duration_ms, r.started_at, r.completed_at, r.input_tokens, r.output_tokens,
    r.cost, r.attempt, r.reused, r.is_cut_off, r.output_length, r.bytes IS NOT NULL AS is_stored,
    CASE WHEN r.output_length > ${LARGE_OUTPUT} THEN ${beginningOf("output", PREVIEW_CHARACTERS)}
      WHEN ${readable("r.bytes", `sum(r.bytes) FILTER (WHERE ${SMALL}) OVER (ORDER BY r.node_id)`, "$2")} THEN ${textOf("output")}
    END AS output,
    v.details->>'child_execution_id' AS child_execution_id,
    CASE WHEN r.status = 'waiting' THEN (SELECT jsonb_build_object('is_callback', w.reason = 'callback', 'until', w.deadline) FROM waits w WHERE w.id = r.id) END AS wait
  FROM measured r LEFT JOIN node_run_values v ON v.node_run_id = r.id`;

const ITERATIONS = `
  SELECT node_id, coalesce(sum(items), 0)::int AS total,
    (count(*) FILTER (WHERE handle = '${ITEM}' AND status = 'complete'))::int AS complete,
    (count(*) FILTER (WHERE handle = '${ITEM}' AND status = 'failed'))::int AS failed
  FROM node_runs WHERE execution_id = $1 AND node_id = ANY($2) GROUP BY node_id HAVING sum(items) IS NOT NULL`;

type Row = Omit<NodeResult, "started_at" | "completed_at" | "iteration" | "child_execution_id"> & {
  id: string;
  child_execution_id: string | null;
  node_id: string;
  iteration: string;
  started_at: Date | null;
  completed_at: Date | null;
  wait: { is_callback: boolean; until: string | null } | null;
  /** Characters; null for a short one. */
  output_length: number | null;
  is_stored: boolean;
  is_cut_off: boolean;
};

/** Formats an output for a response: of a large one the beginning, with the URL of the whole. */
function toldResult({ output, output_length }: Pick<Row, "output" | "output_length">, url: string) {
  if (output === null || output_length === null || output_length <= LARGE_OUTPUT) return toldOutput(output, url);
  return { output: output.slice(0, PREVIEW_CHARACTERS).toWellFormed(), truncated: true, output_length, output_url: url };
}

function resultOf(
  execution_id: string,
  { id, node_id, iteration, wait, child_execution_id, output_length, is_stored, is_cut_off, output, started_at, completed_at, ...row }: Row,
  texts: DeferredTexts | undefined,
): NodeResult {
  const text = outputText({ id, output, is_stored }, texts);
  const told = toldResult({ output: text, output_length }, outputUrl(execution_id, node_id, iteration));
  return {
    ...row,
    ...told,
    ...(is_cut_off && { answer_truncated: true }),
    ...(isStopped({ ...row, started_at }) && { stopped: true }),
    ...(iteration && { iteration }),
    ...(child_execution_id !== null && { child_execution_id }),
    ...(wait?.until && { waits_until: new Date(wait.until).toISOString() }),
    ...(wait?.is_callback && { resume_url: callbackOf(id).url }),
    started_at: started_at?.toISOString() ?? null,
    completed_at: completed_at?.toISOString() ?? null,
  };
}

/** Returns the output of an attempt: of a failed one whose run goes on, its error, as expressions read it. */
export const outputOfAttempt = (
  node: GraphNode | undefined,
  { status, output, error }: Pick<NodeResult, "status" | "output" | "error">,
): string | null => (status === "failed" && goesOnAfterFailure(node) ? (output ?? error) : output);

/** Every node of the graph that takes part: its newest attempt, or how it stands without one. @param texts takes the long texts out */
export async function nodeResults(
  execution: { id: string; status: ExecutionStatus; workflow_version: number | null },
  graph: Graph,
  texts?: DeferredTexts,
): Promise<Record<string, NodeResult>> {
  const loops = graph.nodes.filter((node) => definitionOf(node.type)?.body).map((node) => node.id);
  const [rows, iterations] = await Promise.all([
    pool().query<Row>({ name: "node-results", text: RESULTS, values: [execution.id, readableBytes(texts)] }),
    loops.length
      ? pool().query<{ node_id: string; total: number; complete: number; failed: number }>({
          name: "node-iterations",
          text: ITERATIONS,
          values: [execution.id, loops],
        })
      : { rows: [] },
  ]);
  const rest: NodeResult = { ...idleResult, status: isFinal(execution.status) ? "skipped" : "idle" };
  const results: Record<string, NodeResult> = {};
  for (const node of graph.nodes) if (!definitionOf(node.type)?.isInert) results[node.id] = rest;
  const byId = new Map(graph.nodes.map((node) => [node.id, node]));
  for (const row of rows.rows) {
    const output = row.is_stored ? row.output : outputOfAttempt(byId.get(row.node_id), row);
    results[row.node_id] = resultOf(execution.id, { ...row, output }, texts);
  }
  // Only test runs take pins: those of a draft, which is no version.
  if (execution.workflow_version === null)
    for (const node of graph.nodes) {
      const result = results[node.id];
      if (result?.status === "complete" && pinOf(node)) results[node.id] = { ...result, pinned: true };
    }
  for (const { node_id, ...counts } of iterations.rows) {
    const result = results[node_id];
    if (result) results[node_id] = { ...result, iterations: counts };
  }
  return results;
}

/** Rows that ended after the event are told of by the events that follow it, and would count twice. */
const UP_TO =
  "($2::int IS NULL OR completed_at <= (SELECT (data->>'timestamp')::timestamptz FROM execution_events WHERE execution_id = $1 AND seq = $2))";
const SUMS = `
  SELECT node_id, count(DISTINCT iteration)::int AS count, coalesce(sum(duration_ms), 0)::float8 AS duration_ms,
    sum(input_tokens)::int AS input_tokens, sum(output_tokens)::int AS output_tokens
  FROM node_runs
  WHERE execution_id = $1 AND iteration <> '' AND handle IS DISTINCT FROM '${ITEM}' AND status IN ('complete', 'failed')
    AND ${UP_TO}
  GROUP BY node_id`;
const LAST = `
  SELECT DISTINCT ON (node_id) node_id, iteration, status, attempt, started_at, duration_ms::float8 AS duration_ms
  FROM node_runs
  WHERE execution_id = $1 AND node_id = ANY($3) AND iteration <> '' AND handle IS DISTINCT FROM '${ITEM}' AND status IN ('complete', 'failed')
    AND ${UP_TO}
  ORDER BY node_id, string_to_array(iteration, '.')::int[] DESC, attempt DESC`;

/**
 * What the nodes inside loops took for all their items together, by node id.
 * @param upTo number of the event after which nothing counts; null for a run that has ended
 */
export async function itemSums(execution_id: string, graph: Graph, upTo: number | null): Promise<Record<string, ItemSums>> {
  if (!graph.nodes.some((node) => definitionOf(node.type)?.body)) return {};
  type Row = { node_id: string } & ItemSums;
  const { rows } = await pool().query<Row>({ name: "item-sums", text: SUMS, values: [execution_id, upTo] });
  return Object.fromEntries(rows.map(({ node_id, ...sums }) => [node_id, sums]));
}

/** The latest items that these nodes have worked on, by node id. */
export async function lastItems(execution_id: string, node_ids: readonly string[], upTo: number | null): Promise<Record<string, LastItem>> {
  if (node_ids.length === 0) return {};
  type Row = { node_id: string; started_at: Date | null } & Omit<LastItem, "started_at">;
  const { rows } = await pool().query<Row>({ name: "last-items", text: LAST, values: [execution_id, upTo, node_ids] });
  return Object.fromEntries(
    rows.map(({ node_id, started_at, ...item }) => [node_id, { ...item, started_at: started_at?.toISOString() ?? null }]),
  );
}

/** What a node took in a run, all tries and items together. */
export interface NodeSums {
  duration_ms: number | null;
  input_tokens: number;
  output_tokens: number;
  /** US dollars; null when the price of some call is not known. */
  cost: number | null;
}

const NODE_SUMS = `
  SELECT node_id, round(sum(duration_ms))::float8 AS duration_ms, sum(input_tokens)::int AS input_tokens, sum(output_tokens)::int AS output_tokens,
    CASE WHEN bool_or(model IS NOT NULL AND cost IS NULL) THEN NULL ELSE coalesce(sum(cost), 0)::float8 END AS cost
  FROM node_runs WHERE execution_id = $1 AND handle IS DISTINCT FROM '${ITEM}' GROUP BY node_id`;

/** What each node took, by node id; nodes that the run has not come to are left out. */
export async function nodeSums(execution_id: string): Promise<Record<string, NodeSums>> {
  const { rows } = await pool().query<NodeSums & { node_id: string }>({ name: "node-sums", text: NODE_SUMS, values: [execution_id] });
  return Object.fromEntries(rows.map(({ node_id, ...sums }) => [node_id, sums]));
}

const LOOP = `
  SELECT r.items, s.graph FROM node_runs r JOIN executions e ON e.id = r.execution_id JOIN workflow_snapshots s ON s.id = e.snapshot_id
  WHERE r.execution_id = $1 AND r.node_id = $2 AND r.iteration = $3 AND r.items IS NOT NULL AND e.project_id = $4
  ORDER BY r.attempt DESC LIMIT 1`;

// An item that has ended has a row of its own, which bears the loop's id; one under way shows by the rows of its body.
const CELL_COUNTS = `
  WITH rows AS (
    SELECT split_part(iteration, '.', $4)::int AS index, status, node_id = $2 AND handle = '${ITEM}' AS is_end
    FROM node_runs
    WHERE execution_id = $1 AND iteration <> '' AND ($3 = '' OR iteration LIKE $3 || '.%')
      AND ((node_id = $2 AND handle = '${ITEM}') OR (node_id = ANY($6) AND status IN ('running', 'waiting')))
  ), items AS (
    SELECT index, max(status::text) FILTER (WHERE is_end) AS ended, bool_or(status = 'waiting') AS waits FROM rows GROUP BY index
  )
  SELECT index / $5 AS cell,
    (count(*) FILTER (WHERE ended = 'complete'))::int AS complete,
    (count(*) FILTER (WHERE ended = 'failed'))::int AS failed,
    (count(*) FILTER (WHERE ended = 'skipped'))::int AS skipped,
    (count(*) FILTER (WHERE ended IS NULL AND NOT waits))::int AS running,
    (count(*) FILTER (WHERE ended IS NULL AND waits))::int AS waiting,
    min(index) FILTER (WHERE ended = 'failed') AS first_failed
  FROM items GROUP BY cell`;

type Cell = LoopItems["cells"][number] & { cell: number };

/** A loop that has started: how many items it has, and the graph that its run runs. */
export async function findLoop(
  project_id: string,
  { execution_id, node_id, iteration }: NodeOutputInput,
): Promise<{ items: number; graph: unknown } | undefined> {
  if (!isUuid(execution_id)) return undefined;
  return (await pool().query<{ items: number; graph: unknown }>(LOOP, [execution_id, node_id, iteration, project_id])).rows[0];
}

/**
 * How the items of a loop stand, in groups of `per_cell`.
 * @param body ids of the nodes inside it
 */
export async function loopCells(
  { execution_id, node_id, iteration }: NodeOutputInput,
  per_cell: number,
  body: readonly string[],
): Promise<Cell[]> {
  const depth = iteration === "" ? 1 : iteration.split(".").length + 1;
  return (await pool().query<Cell>(CELL_COUNTS, [execution_id, node_id, iteration, depth, per_cell, body])).rows;
}

const ITEM_ROWS = `
  SELECT DISTINCT ON (index, is_item, node_id) split_part(iteration, '.', $4)::int AS index, node_id, coalesce(handle = '${ITEM}', false) AS is_item,
    status, started_at, duration_ms::float8 AS duration_ms, reused
  FROM node_runs
  WHERE execution_id = $1 AND iteration <> '' AND cardinality(string_to_array(iteration, '.')) = $4 AND ($3 = '' OR iteration LIKE $3 || '.%')
    AND (node_id = ANY($5) OR (node_id = $2 AND handle = '${ITEM}'))
    AND split_part(iteration, '.', $4)::int >= $6 AND split_part(iteration, '.', $4)::int < $6 + $7
  ORDER BY index, is_item DESC, node_id, attempt DESC`;

export interface LoopRow {
  index: number;
  node_id: string;
  /** The row says how the whole item ended; else it is of a node in its body. */
  is_item: boolean;
  status: NodeStatus;
  started_at: Date | null;
  duration_ms: number | null;
  reused: boolean;
}

/**
 * When the items of a loop, and the nodes right in its body, worked.
 * @param body ids of the nodes whose loop this is
 * @param span from which item on, and how many
 */
export async function loopRows(
  { execution_id, node_id, iteration }: NodeOutputInput,
  body: readonly string[],
  { from, count }: { from: number; count: number },
): Promise<LoopRow[]> {
  const depth = iteration === "" ? 1 : iteration.split(".").length + 1;
  return (await pool().query<LoopRow>(ITEM_ROWS, [execution_id, node_id, iteration, depth, body, from, count])).rows;
}

const OUTPUT = `
  SELECT r.id, r.status, r.error, ${OUTPUT_BYTES} IS NOT NULL AS is_stored,
    CASE WHEN ${readable(OUTPUT_BYTES, OUTPUT_BYTES, "$5")} THEN ${textOf("output")} END AS output
  FROM node_runs r JOIN executions e ON e.id = r.execution_id LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = $2 AND r.iteration = $3 AND r.handle IS DISTINCT FROM '${ITEM}' AND e.project_id = $4
  ORDER BY r.attempt DESC LIMIT 1`;

/** An output that a query has read, or left to be deferred. */
interface FoundOutput {
  id: string;
  output: string | null;
  is_stored: boolean;
}

const outputText = ({ id, output, is_stored }: FoundOutput, texts: DeferredTexts | undefined): string | null =>
  output ?? (is_stored && texts ? texts.defer(textOfNodeRun("output", id)) : null);

/** The whole output of one node's newest attempt, however large; undefined when it has none. @param texts takes a long one out */
export async function findNodeOutput(
  project_id: string,
  { execution_id, node_id, iteration }: NodeOutputInput,
  texts?: DeferredTexts,
): Promise<Pick<NodeResult, "status" | "error" | "output"> | undefined> {
  const values = [execution_id, node_id, iteration, project_id, readableBytes(texts)];
  const [row] = (await pool().query<FoundOutput & Pick<NodeResult, "status" | "error">>(OUTPUT, values)).rows;
  return row && { status: row.status, error: row.error, output: outputText(row, texts) };
}

// Values of a loop's items are put together into one text, and so are read whole.
const OUTPUTS_SO_FAR = `
  SELECT r.id, r.node_id, r.iteration, r.bytes IS NOT NULL AS is_stored,
    CASE WHEN r.iteration <> '' OR ${readable("r.bytes", "sum(r.bytes) OVER (ORDER BY r.id)", "$3")} THEN ${textOf("output")} END AS output
  FROM (
    SELECT r.id, r.execution_id, r.node_id, r.iteration, ${OUTPUT_BYTES} AS bytes
    FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
    WHERE r.execution_id = $1 AND r.node_id = ANY($2) AND r.status = 'complete'
  ) AS r
  JOIN node_run_values v ON v.node_run_id = r.id`;

/**
 * What these nodes came to in every iteration, or outside of loops.
 * @param most how many bytes they may have together; with more none is read
 * @param texts takes the long texts out
 */
export async function outputsOf(
  execution_id: string,
  node_ids: readonly string[],
  most: number,
  texts?: DeferredTexts,
): Promise<{ node_id: string; iteration: string; output: string | null }[]> {
  const { rows: sizes } = await pool().query<{ kept: number }>(named("outputs-so-far-bytes", bodyOutputBytes(execution_id, node_ids)));
  if ((sizes[0]?.kept ?? 0) > most) return [];
  const { rows } = await pool().query<FoundOutput & { node_id: string; iteration: string }>({
    name: "outputs-so-far",
    text: OUTPUTS_SO_FAR,
    values: [execution_id, node_ids, readableBytes(texts)],
  });
  return rows.map((row) => ({ node_id: row.node_id, iteration: row.iteration, output: outputText(row, texts) }));
}

const LEFT_BEHIND = `
  SELECT DISTINCT ON (r.node_id) r.node_id, r.completed_at, CASE r.status WHEN 'failed' THEN r.error ELSE ${textOf("output")} END AS text,
    r.status = 'skipped' AS is_skipped
  FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.node_id = ANY($2) AND r.status IN ('complete', 'failed', 'skipped') AND r.handle IS DISTINCT FROM '${ITEM}'
  ORDER BY r.node_id, string_to_array(r.iteration, '.')::int[] DESC, r.attempt DESC`;

/** What nodes left behind in a run; of one inside a loop, its latest iteration. A failed one left its error. */
export async function leftBehind(
  execution_id: string,
  node_ids: readonly string[],
): Promise<{ node_id: string; completed_at: Date | null; text: string | null; is_skipped: boolean }[]> {
  return (await pool().query({ name: "condition-trial", text: LEFT_BEHIND, values: [execution_id, node_ids] })).rows;
}

/** How top-level nodes ended, newest attempt first; a text longer than any pin need not be read whole to be compared with one. */
const ENDS = `
  SELECT DISTINCT ON (r.node_id) r.node_id, r.status, r.handle, r.reused, ${beginningOf("output", MAX_PINNED + 1)} AS output
  FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.iteration = '' ORDER BY r.node_id, r.attempt DESC`;

/** Nodes whose agent was changed after they ran, at any item of the loops around them. */
const CHANGED_AGENTS = `
  SELECT DISTINCT r.node_id
  FROM (
    SELECT DISTINCT ON (node_id, iteration) node_id, started_at FROM node_runs
    WHERE execution_id = $1 AND node_id = ANY($2) ORDER BY node_id, iteration, attempt DESC
  ) r
  JOIN unnest($2::text[], $3::uuid[]) AS n (node_id, agent_id) ON n.node_id = r.node_id
  JOIN agents a ON a.id = n.agent_id AND a.updated_at > r.started_at`;

/** How top-level nodes ended, by id; of a text longer than any pin a beginning that is longer too. */
export async function topLevelEnds(
  execution_id: string,
): Promise<{ node_id: string; status: NodeStatus; handle: string | null; reused: boolean; output: string | null }[]> {
  return (await pool().query(ENDS, [execution_id])).rows;
}

/**
 * Ids of nodes whose agent was changed after they ran, at any item of the loops around them.
 * @param agents nodes with the agents that they call
 */
export async function nodesOfChangedAgents(
  execution_id: string,
  agents: readonly { id: string; agent_id: string }[],
): Promise<Set<string>> {
  const values = [execution_id, agents.map(({ id }) => id), agents.map(({ agent_id }) => agent_id)];
  return new Set((await pool().query<{ node_id: string }>(CHANGED_AGENTS, values)).rows.map(({ node_id }) => node_id));
}

/** Every attempt of nodes, in the order in which they started. */
export const attemptsOf = (where: { execution_id: string; node_id?: string; iteration?: string }): Promise<NodeRun[]> =>
  db().nodeRun.findMany({ where, orderBy: [{ started_at: { sort: "asc", nulls: "last" } }, { id: "asc" }] });
