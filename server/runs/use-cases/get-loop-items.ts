import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { ITEM } from "#server/runs/ports.ts";
import type { LoopItems, LoopItemsInput } from "#server/runs/schema.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { Graph } from "#server/workflow/schema.ts";

/** How many cells a strip has at most: of a longer loop, each stands for several items. */
const CELLS = 200;

const TOTAL = `
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

type Cell = LoopItems["cells"][number];
const untouched: Cell = { complete: 0, failed: 0, skipped: 0, running: 0, waiting: 0, first_failed: null };

/**
 * How the items of a loop stand, item by item or, above 200, in as many groups of equal size.
 * @throws AppError NOT_FOUND, also for a loop that has not started
 */
export async function getLoopItems({ project }: ProjectPrincipal, input: LoopItemsInput): Promise<LoopItems> {
  const { execution_id, node_id, iteration } = input;
  const found = isUuid(execution_id)
    ? await pool().query<{ items: number; graph: unknown }>(TOTAL, [execution_id, node_id, iteration, project.id])
    : { rows: [] };
  const [loop] = found.rows;
  if (!loop) throw notFound("loop in this execution");
  const total = loop.items;
  const per_cell = Math.max(1, Math.ceil(total / CELLS));
  const depth = iteration === "" ? 1 : iteration.split(".").length + 1;
  const graph = Graph.parse(loop.graph);
  const plan = runPlan(graph);
  const body = graph.nodes.flatMap(({ id }) => (plan.loopsAround(id).includes(node_id) ? [id] : []));
  const { rows } = await pool().query<Cell & { cell: number }>(CELL_COUNTS, [execution_id, node_id, iteration, depth, per_cell, body]);
  const cells = Array.from({ length: Math.ceil(total / per_cell) }, () => untouched);
  for (const { cell, ...counts } of rows) if (cells[cell]) cells[cell] = counts;
  return { total, per_cell, cells };
}
