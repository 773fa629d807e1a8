import { diffGraphs } from "#server/workflow/diff.ts";
import type { Graph } from "#server/workflow/schema.ts";

/**
 * A change of a graph without its part in some nodes. Pure and browser-safe: the canvas shows what the server will do.
 * New nodes among them go with their connections, and where they were put into one, that stays; removed ones stay with theirs;
 * changed ones keep what they were.
 * @param ids of nodes; those that did not change may be among them
 */
export function withoutNodes(base: Graph, proposed: Graph, ids: ReadonlySet<string>): Graph {
  const before = new Map(base.nodes.map((node) => [node.id, node]));
  const nodes = proposed.nodes.flatMap((node) => {
    const was = before.get(node.id);
    if (!ids.has(node.id)) return [node];
    return was ? [{ ...was, position: node.position }] : [];
  });
  const kept = new Set(proposed.nodes.map(({ id }) => id));
  nodes.push(...base.nodes.filter(({ id }) => ids.has(id) && !kept.has(id)));
  const alive = new Set(nodes.map(({ id }) => id));
  const stands = ({ source, target }: { source: string; target: string }) => alive.has(source) && alive.has(target);

  const next = Map.groupBy(proposed.edges, (edge) => edge.source);
  /** Whether the proposal leads there by nothing but new nodes that are left out. */
  const isBridged = (source: string, target: string) => {
    const reached = new Set([source]);
    for (const id of reached)
      for (const edge of id === source || !alive.has(id) ? (next.get(id) ?? []) : [])
        if (edge.target === target && id !== source) return true;
        else if (!alive.has(edge.target)) reached.add(edge.target);
    return false;
  };
  const gone = diffGraphs(base, proposed).edges.flatMap(({ kind, edge }) => (kind === "removed" ? [edge] : []));
  const back = gone.filter((edge) => {
    const isOfRemoved = [edge.source, edge.target].some((id) => ids.has(id) && !kept.has(id));
    return stands(edge) && (isOfRemoved || isBridged(edge.source, edge.target));
  });
  return { nodes, edges: [...proposed.edges.filter(stands), ...back] };
}
