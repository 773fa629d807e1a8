import { isDisabled } from "#server/workflow/disabled.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";
import type { Graph, Problem } from "#server/workflow/schema.ts";

/**
 * Nodes to which no way leads from the trigger, said of the first of each chain: they stop no run, but never take part in one.
 */
export function findUnreached({ nodes, edges }: Graph): Problem[] {
  const next = Map.groupBy(edges, (edge) => edge.source);
  const entered = new Set(edges.map((edge) => edge.target));
  const open = nodes.filter((node) => definitionOf(node.type)?.group === "trigger").map(({ id }) => id);
  if (open.length === 0) return [];
  const reached = new Set(open);
  for (let id = open.pop(); id !== undefined; id = open.pop())
    for (const { target } of next.get(id) ?? [])
      if (!reached.has(target)) {
        reached.add(target);
        open.push(target);
      }
  const lost = nodes.filter((node) => {
    const definition = definitionOf(node.type);
    return definition && !definition.isInert && !reached.has(node.id) && !entered.has(node.id) && !isDisabled(node);
  });
  return lost.map((node) => ({ node_id: node.id, field: null, message: `Nothing leads to ${labelOf(node)}, so it never runs.` }));
}
