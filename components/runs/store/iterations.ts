import type { Plan } from "#server/workflow/compile.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import type { Graph } from "#server/workflow/schema.ts";

const plans = new WeakMap<Graph, Plan>();

/** What belongs to which loop of a graph; worked out once for each graph. */
export function planOf(graph: Graph): Plan {
  const known = plans.get(graph);
  if (known) return known;
  const plan = runPlan(graph);
  plans.set(graph, plan);
  return plan;
}

/** Where one more loop begins inside `path`. */
export const innerPath = (path: string, index: number): string => (path === "" ? String(index) : `${path}.${index}`);
