import type { GraphEdge } from "#server/workflow/schema.ts";

// In which order the steps of a workflow stand in its outline, and which one leads to which.

/** Stands before every first step. No node has this id. */
export const START = "";

/** Edges by source, or by target. */
export type EdgesByNode = ReadonlyMap<string, readonly GraphEdge[]>;

/** Everything that can be reached from START, earlier steps first as far as no edge leads back. */
export function topologicalOrder(next: EdgesByNode): string[] {
  const order: string[] = [];
  const seen = new Set([START]);
  const stack = [{ id: START, at: 0 }];
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    const edges = next.get(top.id) ?? [];
    // The last way first: turned round in the end, the first way comes first.
    const edge = edges[edges.length - 1 - top.at++];
    if (!edge) {
      order.push(top.id);
      stack.pop();
    } else if (!seen.has(edge.target)) {
      seen.add(edge.target);
      stack.push({ id: edge.target, at: 0 });
    }
  }
  return order.reverse();
}

/** Of each step, the nearest one that every way to it leads through (Cooper, Harvey and Kennedy: "A Simple, Fast Dominance Algorithm"). */
export function immediateDominators(order: readonly string[], before: EdgesByNode): Map<string, string> {
  const rank = new Map(order.map((id, index) => [id, index]));
  const gate = new Map([[START, START]]);
  const rankOf = (id: string) => rank.get(id) ?? 0;
  const common = (one: string, other: string): string => {
    let [a, b] = [one, other];
    while (a !== b) {
      while (rankOf(a) > rankOf(b)) a = gate.get(a) ?? START;
      while (rankOf(b) > rankOf(a)) b = gate.get(b) ?? START;
    }
    return a;
  };
  for (let hasChanged = true; hasChanged; ) {
    hasChanged = false;
    for (const id of order.slice(1)) {
      const sources = (before.get(id) ?? []).map((edge) => edge.source).filter((source) => gate.has(source));
      const found = sources.reduce<string | undefined>((so, source) => (so === undefined ? source : common(so, source)), undefined);
      if (found === undefined || gate.get(id) === found) continue;
      gate.set(id, found);
      hasChanged = true;
    }
  }
  return gate;
}
