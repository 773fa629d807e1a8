import { pool } from "#server/platform/db/client.ts";
import { ITEM } from "#server/runs/ports.ts";
import type { ItemSums, LastItem } from "#server/runs/schema.ts";
import { definitionOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

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
