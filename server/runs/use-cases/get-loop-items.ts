import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";
import type { LoopItems, LoopItemsInput } from "#server/runs/schema.ts";
import { findLoop, loopCells } from "#server/runs/store/node-results.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { Graph } from "#server/workflow/schema.ts";

/** How many cells a strip has at most: of a longer loop, each stands for several items. */
const CELLS = 200;

const untouched: LoopItems["cells"][number] = { complete: 0, failed: 0, skipped: 0, running: 0, waiting: 0, first_failed: null };

/**
 * How the items of a loop stand, item by item or, above 200, in as many groups of equal size.
 * @throws AppError NOT_FOUND, also for a loop that has not started
 */
export async function getLoopItems({ project }: ProjectPrincipal, input: LoopItemsInput): Promise<LoopItems> {
  const loop = await findLoop(project.id, input);
  if (!loop) throw notFound("loop in this execution");
  const total = loop.items;
  const per_cell = Math.max(1, Math.ceil(total / CELLS));
  const graph = Graph.parse(loop.graph);
  const plan = runPlan(graph);
  const body = graph.nodes.flatMap(({ id }) => (plan.loopsAround(id).includes(input.node_id) ? [id] : []));
  const cells = Array.from({ length: Math.ceil(total / per_cell) }, () => untouched);
  for (const { cell, ...counts } of await loopCells(input, per_cell, body)) if (cells[cell]) cells[cell] = counts;
  return { total, per_cell, cells };
}
