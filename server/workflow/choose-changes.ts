import { LAYOUT } from "#server/workflow/diff.ts";
import { checkConnection, withoutPlainHandles } from "#server/workflow/graph.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

// A change of a graph without a part of it. Pure and browser-safe: the canvas shows what the server will do.

const parentOf = (node: GraphNode): string | undefined => (typeof node.parentId === "string" ? node.parentId : undefined);

/** A node as it was, where the change has drawn it: its neighbours may have made room. */
function asBefore(was: GraphNode, now: GraphNode): GraphNode {
  if (parentOf(was) !== parentOf(now)) return was;
  return { ...was, ...Object.fromEntries(Object.entries(now).filter(([key]) => LAYOUT.has(key))) };
}

/** Nodes that stand in none that is there, one after the other: what is inside a loop goes with it. */
function withoutOrphans(nodes: readonly GraphNode[], before: ReadonlyMap<string, GraphNode>): GraphNode[] {
  const known = new Set(nodes.map(({ id }) => id));
  const kept = nodes.flatMap((node): GraphNode[] => {
    const parent = parentOf(node);
    if (parent === undefined || known.has(parent)) return [node];
    const was = before.get(node.id);
    if (!was) return [];
    const { parentId: _, extent: __, ...loose } = was;
    return [parentOf(was) === undefined || known.has(parentOf(was) ?? "") ? was : (loose as GraphNode)];
  });
  return kept.length === nodes.length && kept.every((node, index) => node === nodes[index]) ? kept : withoutOrphans(kept, before);
}

/** Where one comes to from an edge by way of nodes that are gone: the last edge of each way, and whether it was the only way. */
function waysThrough(
  first: GraphEdge,
  edges: readonly GraphEdge[],
  isGone: (id: string) => boolean,
): { last: GraphEdge; isOnly: boolean }[] {
  const found: GraphEdge[] = [];
  const seen = new Set<string>();
  let isOnly = true;
  const follow = (edge: GraphEdge) => {
    if (!isGone(edge.target)) return void found.push(edge);
    if (seen.has(edge.target)) return;
    seen.add(edge.target);
    const next = edges.filter(({ source }) => source === edge.target);
    if (next.length > 1 || edges.filter(({ target }) => target === edge.target).length > 1) isOnly = false;
    for (const one of next) follow(one);
  };
  follow(first);
  return found.map((last) => ({ last, isOnly }));
}

/**
 * What a change makes of a graph when the changes of some nodes are not taken: new ones do not come (nor what is inside them), changed
 * ones stay as they were, removed ones stay with their connections. Where a node was put into a connection and does not come, the
 * connection is there again, or leads on to what the node would have led to.
 * @param base the graph that was changed
 * @param proposed what the change as a whole makes of it
 * @param ids of nodes; those that did not change may be among them
 */
export function withoutNodes(base: Graph, proposed: Graph, ids: ReadonlySet<string>): Graph {
  if (ids.size === 0) return proposed;
  const was = new Map(base.nodes.map((node) => [node.id, node]));
  const known = new Set(proposed.nodes.map(({ id }) => id));
  const restored = base.nodes.filter(({ id }) => ids.has(id) && !known.has(id));
  const wanted = proposed.nodes.flatMap((node): GraphNode[] => {
    if (!ids.has(node.id)) return [node];
    const old = was.get(node.id);
    return old ? [asBefore(old, node)] : [];
  });
  const nodes = withoutOrphans([...wanted, ...restored], was);
  const here = new Set(nodes.map(({ id }) => id));
  const isRestored = (id: string) => here.has(id) && !known.has(id);
  const isGone = (id: string) => known.has(id) && !here.has(id);

  const edges: GraphEdge[] = [];
  const add = (edge: GraphEdge) => {
    if (!edges.some(({ id }) => id === edge.id) && checkConnection({ nodes, edges }, edge) === null) edges.push(edge);
  };
  const old = new Set(base.edges.map(({ id }) => id));
  // What was led past a removed node leads through it again.
  const isBypass = (edge: GraphEdge) =>
    !old.has(edge.id) &&
    base.edges.some(
      (one) =>
        one.source === edge.source &&
        isRestored(one.target) &&
        base.edges.some((two) => two.source === one.target && two.target === edge.target),
    );
  for (const edge of proposed.edges) if (here.has(edge.source) && here.has(edge.target) && !isBypass(edge)) edges.push(edge);
  for (const edge of base.edges) if (isRestored(edge.source) || isRestored(edge.target)) add(edge);
  for (const first of proposed.edges) {
    if (!here.has(first.source) || !isGone(first.target)) continue;
    const handle = withoutPlainHandles(first).sourceHandle ?? null;
    for (const { last, isOnly } of waysThrough(first, proposed.edges, isGone)) {
      const direct = base.edges.find(
        (edge) =>
          edge.source === first.source && (withoutPlainHandles(edge).sourceHandle ?? null) === handle && edge.target === last.target,
      );
      if (direct) add(direct);
      else if (isOnly) add({ ...last, id: first.id, source: first.source, sourceHandle: first.sourceHandle ?? null });
    }
  }
  return { nodes, edges };
}
