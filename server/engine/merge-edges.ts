import { checkConnection } from "#server/engine/graph.ts";
import { canonical, edgeChanges, ends } from "#server/engine/graph-diff.ts";
import type { Clashes } from "#server/engine/graph-merge.ts";
import { withoutPlainHandles } from "#server/engine/plain-handles.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/schemas/graph.ts";

type Edges = Map<string, GraphEdge>;

/** Edges by the id of the one in `known` that they are: the same id, or drawn anew between the same ends. */
function matched(edges: readonly GraphEdge[], known: Edges): Edges {
  const ids = new Set(edges.map((edge) => edge.id));
  const gone = new Map([...known].filter(([id]) => !ids.has(id)).map(([id, edge]) => [ends(edge), id]));
  const result: Edges = new Map();
  for (const edge of edges) {
    const id = known.has(edge.id) ? edge.id : (gone.get(ends(edge)) ?? edge.id);
    result.set(result.has(id) ? edge.id : id, edge);
  }
  return result;
}

const wayOut = (edge: GraphEdge) => canonical([edge.source, withoutPlainHandles(edge).sourceHandle]);

/** Edges that both sides led elsewhere: each took the same one away and drew another from where it left. */
function splitWays(was: Edges, mine: Edges, theirs: Edges): GraphEdge[] {
  const left = new Set([...was].flatMap(([id, edge]) => (mine.has(id) || theirs.has(id) ? [] : [wayOut(edge)])));
  const drawn = (side: Edges, other: Edges) =>
    [...side].flatMap(([id, edge]) => (was.has(id) || other.has(id) || !left.has(wayOut(edge)) ? [] : [edge]));
  const [byMe, byThem] = [drawn(mine, theirs), drawn(theirs, mine)];
  const meets = (edges: GraphEdge[], edge: GraphEdge) => edges.some((one) => wayOut(one) === wayOut(edge));
  return [...byMe.filter((edge) => meets(byThem, edge)), ...byThem.filter((edge) => meets(byMe, edge))];
}

/**
 * The edges of a merge: those of one side alone, and mine where both changed one. Left out, as clashes, are those that one side
 * drew and that no longer go: their end is gone, or together with the other side's they would lead round.
 * @param nodes those that stay; of `revived`, which they removed, my connections stay too
 */
export function mergeEdges({
  base,
  mine,
  theirs,
  nodes,
  revived,
  clashes,
}: {
  base: Graph;
  mine: Graph;
  theirs: Graph;
  nodes: GraphNode[];
  revived: ReadonlySet<string>;
  clashes: Clashes;
}): GraphEdge[] {
  const was: Edges = new Map(base.edges.map((edge) => [edge.id, edge]));
  const own = matched(mine.edges, was);
  // What both drew anew is one edge as well.
  const other = matched(theirs.edges, new Map([...was, ...own]));
  const isSame = (one: GraphEdge, two: GraphEdge) => edgeChanges(one, two).length === 0;
  const clash = (...edges: (GraphEdge | undefined)[]) => {
    for (const edge of edges) if (edge) clashes.edges.add(edge.id);
  };

  const kept: { edge: GraphEdge; isTheirs: boolean; isNew: boolean }[] = [];
  for (const id of new Set([...own.keys(), ...other.keys()])) {
    const [before, my, their] = [was.get(id), own.get(id), other.get(id)];
    const take = (edge: GraphEdge) => kept.push({ edge, isTheirs: edge === their, isNew: !before || !isSame(before, edge) });
    if (my && their) {
      if (isSame(my, their)) take(before && canonical(my) === canonical(before) ? their : my);
      else if (before && isSame(before, my)) take(their);
      else {
        if (!(before && isSame(before, their))) clash(my, their);
        take(my);
      }
    } else if (my) {
      const isRevived = revived.has(my.source) || revived.has(my.target);
      if (!before || isRevived) take(my);
      else if (!isSame(before, my)) {
        clash(my, before);
        take(my);
      }
    } else if (their) {
      if (!before) take(their);
      else if (!isSame(before, their)) clash(their, before);
    }
  }

  clash(...splitWays(was, own, other));

  const alive = new Set(nodes.map((node) => node.id));
  const ids = new Set<string>();
  const edges: GraphEdge[] = [];
  // Theirs come last, so that it is theirs that do not go with mine.
  for (const { edge, isTheirs, isNew } of kept.toSorted(
    (one, two) => Number(one.isTheirs && one.isNew) - Number(two.isTheirs && two.isNew),
  )) {
    if (!alive.has(edge.source) || !alive.has(edge.target)) {
      if (isNew) clash(edge);
      continue;
    }
    // Its own side may hold what the rules refuse; only what the two sides refuse each other is left out.
    const isRefused =
      isNew &&
      isTheirs &&
      checkConnection({ nodes, edges }, edge) !== null &&
      checkConnection({ ...theirs, edges: theirs.edges.filter((one) => one !== edge) }, edge) === null;
    if (isRefused || ids.has(edge.id)) {
      clash(edge);
      continue;
    }
    ids.add(edge.id);
    edges.push(edge);
  }
  return edges;
}
