import { pool } from "#server/db/client.ts";
import { definitionOf } from "#server/engine/graph.ts";
import { ITEM } from "#server/engine/ports.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { ItemSums } from "#server/schemas/item-sums.ts";

// Rows that ended after the event are told of by the events that follow it, and would count twice.
const SUMS = `
  SELECT node_id, count(DISTINCT iteration)::int AS count, coalesce(sum(duration_ms), 0)::float8 AS duration_ms,
    sum(input_tokens)::int AS input_tokens, sum(output_tokens)::int AS output_tokens
  FROM node_runs
  WHERE execution_id = $1 AND iteration <> '' AND handle IS DISTINCT FROM '${ITEM}' AND status IN ('complete', 'failed')
    AND ($2::int IS NULL OR completed_at <= (SELECT (data->>'timestamp')::timestamptz FROM execution_events WHERE execution_id = $1 AND seq = $2))
  GROUP BY node_id`;

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
