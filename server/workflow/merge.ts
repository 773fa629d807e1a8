import { comparableJson } from "#server/shared/canonical-json.ts";
import { diffGraphs, diffNode, edgeChanges, ends, type GraphDiff, hasMoved, LAYOUT, LAYOUT_DATA } from "#server/workflow/diff.ts";
import { checkConnection, definitionOf, labelOf, withoutPlainHandles } from "#server/workflow/graph.ts";
import { type Names, namesFrom, withNames } from "#server/workflow/rename.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

// Two changes of one graph, put together. Pure and browser-safe: the editor offers it when two people changed the same workflow.

export interface GraphMerge {
  /** What both sides did, in one graph; where both changed the same, it is as on my side. */
  graph: Graph;
  /** On the way from the base to my side, what only I changed; in `theirs`, what only they did. */
  mine: GraphDiff;
  theirs: GraphDiff;
  /** On the way from their side to mine: what both changed, each in another way. */
  both: GraphDiff;
  /** Nothing was changed by both, so nobody loses anything by the merge. */
  isClean: boolean;
}

/** Ids of what both sides changed, each in another way. */
export interface Clashes {
  nodes: Set<string>;
  edges: Set<string>;
}

type ById = ReadonlyMap<string, GraphNode>;

const byId = (graph: Graph): ById => new Map(graph.nodes.map((node) => [node.id, node]));
const isTrigger = (node: GraphNode) => definitionOf(node.type)?.group === "trigger";
const isInert = (node: GraphNode) => definitionOf(node.type)?.isInert === true;

/** What expressions call the nodes, with some of them under other labels. */
const namesIn = (nodes: readonly GraphNode[], labels?: ReadonlyMap<string, string>): Names =>
  namesFrom(nodes.filter((node) => !isInert(node)).map((node) => [node.id, labels?.get(node.id) ?? labelOf(node)]));

/** The label that each node comes to have: whoever gave another one decides, and I do where both have. */
function mergedLabels(base: ById, mine: ById, theirs: ById): Map<string, string> {
  const labels = new Map([...theirs.values()].map((node) => [node.id, labelOf(node)]));
  for (const node of mine.values()) {
    const [was, their, own] = [base.get(node.id), theirs.get(node.id), labelOf(node)];
    if (!(was && their && labelOf(was) === own)) labels.set(node.id, own);
  }
  return labels;
}

/** The graph with its nodes' texts written for these labels: so a node that only follows another one's new name has not changed. */
function readingBy(graph: Graph, labels: ReadonlyMap<string, string>): Graph {
  const [before, after] = [namesIn(graph.nodes), namesIn(graph.nodes, labels)];
  const read = (node: GraphNode) => {
    const data = withNames(node.type, node.data, before, after);
    return data === node.data ? node : { ...node, data };
  };
  return { ...graph, nodes: graph.nodes.map(read) };
}

/** One side's content where the other side has drawn it. */
function drawnAs(content: GraphNode, drawn: GraphNode): GraphNode {
  const kept = <Item extends object>(item: Item, skip: ReadonlySet<string>) => Object.entries(item).filter(([key]) => !skip.has(key));
  const taken = <Item extends object>(item: Item, only: ReadonlySet<string>) => Object.entries(item).filter(([key]) => only.has(key));
  return Object.fromEntries([
    ...kept(content, LAYOUT),
    ...taken(drawn, LAYOUT),
    ["data", Object.fromEntries([...kept(content.data, LAYOUT_DATA), ...taken(drawn.data, LAYOUT_DATA)])],
  ]) as GraphNode;
}

/** What the merge of nodes finds out. */
interface Found {
  clashes: Clashes;
  /** Nodes that they removed and that stay because I changed them. */
  revived: Set<string>;
  /** Nodes whose texts they wrote. */
  written: Set<string>;
}

/** A node that both sides still have. */
function mergeNode(was: GraphNode, mine: GraphNode, theirs: GraphNode, { clashes, written }: Found): GraphNode {
  const [base, own, their] = [comparableJson(was), comparableJson(mine), comparableJson(theirs)];
  if (their === base && own !== base) return mine;
  const isChanged = (node: GraphNode) => diffNode(was, node)?.kind === "changed";
  const [byMe, byThem] = [isChanged(mine), isChanged(theirs)];
  if (byThem && !byMe) written.add(was.id);
  if (own === base || own === their) return theirs;
  if (byThem && byMe && diffNode(theirs, mine)?.kind === "changed") clashes.nodes.add(was.id);
  const [content, other] = byThem && !byMe ? [theirs, mine] : [mine, theirs];
  // Where something is drawn is nothing to quarrel about; but a place means another thing inside another parent.
  const isPlaced = hasMoved(was, content) || comparableJson(content.parentId) !== comparableJson(other.parentId);
  return isPlaced ? content : drawnAs(content, other);
}

/** Nodes to which a side has led a connection that was not there: it counts on them. */
function reliedOn(base: Graph, side: Graph): Set<string> {
  const known = new Set(base.nodes.map((node) => node.id));
  const added = diffGraphs(base, side).edges.filter(({ kind }) => kind !== "removed");
  return new Set(added.flatMap(({ edge }) => [edge.source, edge.target]).filter((id) => known.has(id)));
}

/** Every node that stays. */
function mergeNodes(base: Graph, mine: Graph, theirs: Graph, found: Found): GraphNode[] {
  const { clashes, revived, written } = found;
  const [was, own, other] = [byId(base), byId(mine), byId(theirs)];
  const [myNeeds, theirNeeds] = [reliedOn(base, mine), reliedOn(base, theirs)];
  return [...new Set([...own.keys(), ...other.keys()])].flatMap((id) => {
    const [before, my, their] = [was.get(id), own.get(id), other.get(id)];
    if (my && their) {
      if (before) return [mergeNode(before, my, their, found)];
      if (diffNode(their, my)?.kind === "changed") clashes.nodes.add(id);
      return [my];
    }
    const kept = my ?? their;
    if (!my) written.add(id);
    if (!before || !kept) return kept ? [kept] : [];
    if (diffNode(before, kept)?.kind !== "changed" && !(my ? myNeeds : theirNeeds).has(id)) return [];
    clashes.nodes.add(id);
    if (my) revived.add(id);
    return my ? [my] : [];
  });
}

/** With exactly one trigger, as far as any side has one: mine before theirs. */
function withOneTrigger(nodes: readonly GraphNode[], sides: readonly Graph[], clashes: Clashes): GraphNode[] {
  const triggers = nodes.filter(isTrigger);
  if (triggers.length === 1) return [...nodes];
  const wanted = sides.flatMap((side) => side.nodes.filter(isTrigger)).map(({ id }) => id);
  const first =
    wanted.map((id) => triggers.find((node) => node.id === id)).find(Boolean) ?? sides.flatMap((side) => side.nodes).find(isTrigger);
  for (const { id } of first ? [...triggers, first] : triggers) clashes.nodes.add(id);
  const rest = nodes.filter((node) => !isTrigger(node) && node.id !== first?.id);
  return first ? [first, ...rest] : rest;
}

/** `label`, or with the first number that makes it unlike every other. */
function freeLabel(label: string, taken: ReadonlySet<string>): string {
  for (let count = 2; ; count++) if (!taken.has(`${label} ${count}`)) return `${label} ${count}`;
}

/** Labels under which no two nodes stand that had different ones before: what they called like mine gets a number. */
function toldApart(nodes: readonly GraphNode[], mine: ById, theirs: ById, clashes: Clashes): Map<string, string> {
  const renamed = new Map<string, string>();
  const taken = new Set(nodes.map(labelOf));
  const named = nodes.filter((node) => !isInert(node));
  for (const [label, alike] of Map.groupBy(named, labelOf)) {
    const isIn = (side: ById, id: string) => {
      const node = side.get(id);
      return node !== undefined && labelOf(node) === label;
    };
    const own = alike.filter(({ id }) => isIn(mine, id));
    // What one side alone calls alike is that side's matter.
    const news = alike.filter(({ id }) => !isIn(mine, id) && own.some((node) => !isIn(theirs, node.id)));
    if (news.length === 0) continue;
    for (const { id } of own) if (!isIn(theirs, id)) clashes.nodes.add(id);
    for (const { id } of news) {
      clashes.nodes.add(id);
      const free = freeLabel(label, taken);
      taken.add(free);
      renamed.set(id, free);
    }
  }
  return renamed;
}

const only = (diff: GraphDiff, has: (kind: "nodes" | "edges", id: string) => boolean): GraphDiff => ({
  nodes: diff.nodes.filter(({ id }) => has("nodes", id)),
  edges: diff.edges.filter(({ id }) => has("edges", id)),
});

/**
 * Puts two changes of one graph together, by node and by edge. What only one side changed is taken from that side; what both
 * changed in different ways, a name that both gave, and a connection that no longer goes are clashes, decided my way.
 * @param base what both sides started from
 */
export function mergeGraphs(base: Graph, mine: Graph, theirs: Graph): GraphMerge {
  const clashes: Clashes = { nodes: new Set(), edges: new Set() };
  const labels = mergedLabels(byId(base), byId(mine), byId(theirs));
  const [was, own, their] = [base, mine, theirs].map((graph) => readingBy(graph, labels)) as [Graph, Graph, Graph];

  const found: Found = { clashes, revived: new Set(), written: new Set() };
  const { revived, written } = found;
  const merged = withOneTrigger(mergeNodes(was, own, their, found), [own, their, was], clashes);
  const renamed = toldApart(merged, byId(mine), byId(theirs), clashes);
  const alive = new Set(merged.map((node) => node.id));
  const finalNames = namesIn(merged, renamed);
  const theirNames = namesIn(their.nodes, labels);
  const nodes = merged.map((node): GraphNode => {
    const { parentId, extent: _, ...rest } = node;
    const placed = typeof parentId === "string" && !alive.has(parentId) ? (rest as GraphNode) : node;
    // What they wrote goes on reading their nodes when one of these had to be called otherwise.
    const data = renamed.size > 0 && written.has(node.id) ? withNames(node.type, node.data, theirNames, finalNames) : node.data;
    const label = renamed.get(node.id);
    return label !== undefined || data !== node.data || placed !== node
      ? { ...placed, data: { ...data, ...(label !== undefined && { label }) } }
      : node;
  });
  const graph = { nodes, edges: mergeEdges({ base: was, mine: own, theirs: their, nodes, revived, clashes }) };

  const between = diffGraphs(their, own);
  const differs = { nodes: new Set(between.nodes.map(({ id }) => id)), edges: new Set(between.edges.map(({ id }) => id)) };
  // A connection that both removed or drew alike has another id on each side, but only where its ends are the same.
  const isAlone = (kind: "nodes" | "edges", id: string) => differs[kind].has(id) && !clashes[kind].has(id);
  return {
    graph,
    mine: only(diffGraphs(was, own), isAlone),
    theirs: only(diffGraphs(was, their), isAlone),
    both: only(between, (kind, id) => clashes[kind].has(id)),
    isClean: clashes.nodes.size + clashes.edges.size === 0,
  };
}

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

const wayOut = (edge: GraphEdge) => comparableJson([edge.source, withoutPlainHandles(edge).sourceHandle]);

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
      if (isSame(my, their)) take(before && comparableJson(my) === comparableJson(before) ? their : my);
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
