import type { Graph as DagreGraph } from "@dagrejs/dagre";

/** Of one node with several ways out: which of them leads to which of the nodes after it, by key. */
export type Ways = ReadonlyMap<string, ReadonlyMap<string, number>>;

/** What is asked of a node of the graph that is being set out; dagre adds nodes of its own where a line is long. */
interface Ranked {
  rank: number;
  order: number;
  /** The line that a node of dagre's own is part of. */
  edgeObj?: { v: string; w: string };
}

/** The nodes that can be reached by one way out of `from` alone, with that way's number. */
function groupsOf(graph: DagreGraph, from: string, ways: ReadonlyMap<string, number>, ranked: readonly string[]): Map<string, number> {
  const groups = new Map<string, number>();
  for (const key of ranked) {
    const before = graph.predecessors(key) ?? [];
    if (before.length === 0) continue;
    const found = new Set(
      before.map((one) => {
        if (String(one) !== from) return groups.get(String(one));
        return ways.get((graph.node(key) as Ranked).edgeObj?.w ?? key);
      }),
    );
    const [only] = found;
    if (found.size === 1 && only !== undefined) groups.set(key, only);
  }
  return groups;
}

/**
 * Keeps what follows the ways out of a node in the order of these ways: dagre orders each column so that few lines cross,
 * which does not say what comes first. Of each column only the places change hands that such nodes have already.
 */
export function keepWays(graph: DagreGraph, ways: Ways): void {
  const of = (key: string) => graph.node(key) as Ranked;
  const ranked = graph
    .nodes()
    .map(String)
    .sort((a, b) => of(a).rank - of(b).rank);
  for (const [from, targets] of ways) {
    const groups = groupsOf(graph, from, targets, ranked);
    for (const column of Map.groupBy(groups.keys(), (key) => of(key).rank).values()) {
      const places = column.map((key) => of(key).order).sort((a, b) => a - b);
      column.sort((a, b) => (groups.get(a) ?? 0) - (groups.get(b) ?? 0) || of(a).order - of(b).order);
      const orders = column.map((key, index) => [key, places[index] ?? 0] as const);
      for (const [key, order] of orders) of(key).order = order;
    }
  }
}
