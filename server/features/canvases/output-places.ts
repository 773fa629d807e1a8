import { outputNodes } from "#server/runs/executor/ending.ts";
import type { OutputPlace } from "#server/runs/store/results.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** The Output nodes of a graph that give results. */
export function outputsIn(graph: Graph): { id: string; label: string }[] {
  const ids = new Set(outputNodes(graph));
  return graph.nodes.filter(({ id }) => ids.has(id)).map((node) => ({ id: node.id, label: labelOf(node) }));
}

/** The place of results that a label means; null for the output of the run. */
export function placeIn(graph: Graph, label: string | null): OutputPlace | null {
  if (label === null) return null;
  const { own = [], others = [] } = Object.groupBy(outputsIn(graph), (output) => (output.label === label ? "own" : "others"));
  return { label, node_ids: own.map(({ id }) => id), other_ids: others.map(({ id }) => id) };
}
