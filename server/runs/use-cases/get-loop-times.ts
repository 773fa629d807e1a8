import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";
import { type LoopTimes, type LoopTimesInput, MOST_TIMES } from "#server/runs/schema.ts";
import { findLoop, type LoopRow, loopRows } from "#server/runs/store/node-results.ts";
import { isStopped } from "#server/shared/execution-status.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { Graph } from "#server/workflow/schema.ts";

const timeOf = ({ status, started_at, duration_ms }: LoopRow) => ({ status, duration_ms, started_at: started_at?.toISOString() ?? null });

/** An item that goes on has no row of its own yet: it began with its first node. */
function itemOf(index: number, rows: readonly LoopRow[]): LoopTimes["items"][number] {
  const whole = rows.find((row) => row.is_item);
  const nodes = rows.filter((row) => !row.is_item && row.started_at !== null);
  nodes.sort((a, b) => Number(a.started_at) - Number(b.started_at));
  const waits = nodes.some(({ status }) => status === "waiting");
  const open = { status: waits ? ("waiting" as const) : ("running" as const), duration_ms: null, started_at: null };
  const started = nodes[0]?.started_at?.toISOString() ?? null;
  return {
    index,
    ...(whole ? timeOf(whole) : open),
    started_at: started ?? whole?.started_at?.toISOString() ?? null,
    nodes: nodes.map((row) => ({ node_id: row.node_id, ...timeOf(row), ...(isStopped(row) && { stopped: true as const }) })),
  };
}

/**
 * When up to 100 items of a loop worked, with the nodes right in its body; those that have begun.
 * @throws AppError NOT_FOUND, also for a loop that has not started
 */
export async function getLoopTimes({ project }: ProjectPrincipal, { from, ...input }: LoopTimesInput): Promise<LoopTimes> {
  const loop = await findLoop(project.id, input);
  if (!loop) throw notFound("loop in this execution");
  const graph = Graph.parse(loop.graph);
  const plan = runPlan(graph);
  const body = graph.nodes.flatMap(({ id }) => (plan.ownerOf(id) === input.node_id ? [id] : []));
  const rows = await loopRows(input, body, { from, count: MOST_TIMES });
  const byItem = Map.groupBy(rows, ({ index }) => index);
  const next_from = from + MOST_TIMES < loop.items ? from + MOST_TIMES : null;
  return { total: loop.items, next_from, items: [...byItem].map(([index, own]) => itemOf(index, own)).sort((a, b) => a.index - b.index) };
}
