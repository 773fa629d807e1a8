import { pool } from "#server/platform/db/client.ts";
import { ITEM } from "#server/runs/ports.ts";
import { type ExecutionStatus, isFinal, type NodeResult } from "#server/runs/schema.ts";
import { textOf } from "#server/runs/store/texts.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import { LARGE_OUTPUT, outputUrl, toldOutput } from "#server/workflow/output-size.ts";
import { pinOf } from "#server/workflow/pins.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Of a node inside a loop the latest iteration speaks. A large output is not read whole: one character more than the
// limit is enough to know that it is cut.
const RESULTS = `
  SELECT DISTINCT ON (r.node_id) r.node_id, r.iteration, r.status, r.error, r.duration_ms, r.started_at, r.completed_at,
    r.input_tokens, r.output_tokens, CASE WHEN r.model IS NULL THEN 0 ELSE r.cost::float8 END AS cost, r.attempt, r.reused,
    r.is_cut_off, left(${textOf("output")}, ${LARGE_OUTPUT + 1}) AS output,
    length(${textOf("output")}) AS output_length
  FROM node_runs r LEFT JOIN node_run_values v ON v.node_run_id = r.id
  WHERE r.execution_id = $1 AND r.handle IS DISTINCT FROM '${ITEM}'
  ORDER BY r.node_id, string_to_array(r.iteration, '.')::int[] DESC, r.attempt DESC`;

const ITERATIONS = `
  SELECT node_id, coalesce(sum(items), 0)::int AS total,
    (count(*) FILTER (WHERE handle = '${ITEM}' AND status = 'complete'))::int AS complete,
    (count(*) FILTER (WHERE handle = '${ITEM}' AND status = 'failed'))::int AS failed
  FROM node_runs WHERE execution_id = $1 AND node_id = ANY($2) GROUP BY node_id HAVING sum(items) IS NOT NULL`;

type Row = Omit<NodeResult, "started_at" | "completed_at" | "iteration"> & {
  node_id: string;
  iteration: string;
  started_at: Date | null;
  completed_at: Date | null;
  output_length: number | null;
  is_cut_off: boolean;
};

const untouched = (status: "idle" | "skipped"): NodeResult => ({
  status,
  output: null,
  error: null,
  duration_ms: null,
  started_at: null,
  completed_at: null,
  input_tokens: 0,
  output_tokens: 0,
  cost: 0,
  attempt: 0,
  reused: false,
});

function resultOf(
  execution_id: string,
  { node_id, iteration, output_length, is_cut_off, output, started_at, completed_at, ...row }: Row,
): NodeResult {
  const told = toldOutput(output, outputUrl(execution_id, node_id, iteration));
  return {
    ...row,
    ...told,
    ...("output_url" in told && output_length !== null && { output_length }),
    ...(is_cut_off && { answer_truncated: true }),
    ...(iteration && { iteration }),
    started_at: started_at?.toISOString() ?? null,
    completed_at: completed_at?.toISOString() ?? null,
  };
}

/** Every node of the graph that takes part: its newest attempt, or how it stands without one. */
export async function nodeResults(
  execution: { id: string; status: ExecutionStatus; workflow_version: number | null },
  graph: Graph,
): Promise<Record<string, NodeResult>> {
  const loops = graph.nodes.filter((node) => definitionOf(node.type)?.body).map((node) => node.id);
  const [rows, iterations] = await Promise.all([
    pool().query<Row>({ name: "node-results", text: RESULTS, values: [execution.id] }),
    loops.length
      ? pool().query<{ node_id: string; total: number; complete: number; failed: number }>({
          name: "node-iterations",
          text: ITERATIONS,
          values: [execution.id, loops],
        })
      : { rows: [] },
  ]);
  const rest = untouched(isFinal(execution.status) ? "skipped" : "idle");
  const results: Record<string, NodeResult> = {};
  for (const node of graph.nodes) if (!definitionOf(node.type)?.isInert) results[node.id] = rest;
  for (const row of rows.rows) results[row.node_id] = resultOf(execution.id, row);
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
