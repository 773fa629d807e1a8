import { type EdgesByNode, immediateDominators, START, topologicalOrder } from "#components/workflow-editor/outline/outline-order.ts";
import { makePlan } from "#server/workflow/compile.ts";
import { definitionOf, handlesOf, handleTitle } from "#server/workflow/graph.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

// The workflow as a text: which step follows which, as a tree that can be read from top to bottom.

/** A step of the workflow, with the ways out of it that need a group of their own. */
export interface OutlineStep {
  kind: "step";
  key: string;
  nodeId: string;
  type: string;
  /** Ids of the steps before it where these are several: paths come together here. */
  joins: readonly string[];
  children: readonly OutlineGroup[];
}

/** A way out of a step, a path beside others, or a part of the outline such as "Not connected". */
export interface OutlineGroup {
  kind: "group";
  key: string;
  title: string;
  /** The way that a new step would be put on; null where there is none. */
  way: { nodeId: string; handle: string } | null;
  children: readonly OutlineItem[];
}

/** The flow goes on at a step that stands elsewhere in the outline. */
export interface OutlineLink {
  kind: "link";
  key: string;
  nodeId: string;
  type: string;
}

export type OutlineItem = OutlineStep | OutlineGroup | OutlineLink;

export const stepKey = (nodeId: string): string => `step ${nodeId}`;

const TITLES = new Map([
  ["body", "For each item"],
  ["error", "On error"],
  ["timeout", "On timeout"],
]);
const wayTitle = (node: GraphNode | undefined, handle: string): string =>
  TITLES.get(handle) ?? `If ${node ? handleTitle(node, handle) : handle}`;

const append = <Value>(map: Map<string, Value[]>, key: string, value: Value) => {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
};

interface Flow {
  nodes: ReadonlyMap<string, GraphNode>;
  /** The edges by which steps stand below each other, by source. */
  next: EdgesByNode;
  /** All edges as they are drawn: what of them is not in `next` is shown as a link. */
  drawn: EdgesByNode;
  /** Edges by target. */
  before: EdgesByNode;
}

/** The outline from some first steps on: each step that can be reached from them, once. */
function outlineFrom(roots: readonly string[], flow: Flow): OutlineItem[] {
  const next = new Map([...flow.next, [START, edgesTo(roots)]]);
  const order = topologicalOrder(next);
  const members = new Set(order);
  const before = new Map<string, GraphEdge[]>();
  for (const id of order) for (const edge of next.get(id) ?? []) append(before, edge.target, edge);
  const gate = immediateDominators(order, before);

  // By which ways out of its gate a step can be reached: by one, it stands on that way; by several, after them all.
  const ways = new Map<string, ReadonlySet<string>>();
  const inside = new Map<string, string[]>();
  for (const id of order.slice(1)) {
    const above = gate.get(id) ?? START;
    append(inside, above, id);
    const found = new Set<string>();
    for (const edge of before.get(id) ?? []) {
      if (edge.source === above) {
        found.add(edge.id);
        continue;
      }
      let step = edge.source;
      while (step !== START && gate.get(step) !== above) step = gate.get(step) ?? START;
      for (const way of ways.get(step) ?? []) found.add(way);
    }
    ways.set(id, found);
  }

  const isStructure = new Set([...next.values()].flat());
  const link = (edge: GraphEdge): OutlineLink => ({
    kind: "link",
    key: `link ${edge.id}`,
    nodeId: edge.target,
    type: flow.nodes.get(edge.target)?.type ?? "",
  });

  /** Lists that are still to be filled, each from its first step on: ways within ways would not fit on the stack. */
  const unfilled: { items: OutlineItem[]; first: string }[] = [];
  /** Lists without the links to what stands right below them anyway, once they are filled. */
  const unclosed: OutlineItem[][] = [];
  const closed = (items: OutlineItem[]): OutlineItem[] => {
    unclosed.push(items);
    return items;
  };

  /** A step and what follows it, down to where its way ends; filled later. */
  function sequence(first: string): OutlineItem[] {
    const items: OutlineItem[] = [];
    unfilled.push({ items, first });
    return items;
  }

  function fill({ items, first }: (typeof unfilled)[number]): void {
    const open: (string | OutlineLink)[] = [first];
    for (let item = open.pop(); item !== undefined; item = open.pop()) {
      if (typeof item !== "string") {
        items.push(item);
        continue;
      }
      const { step, rest } = stepOf(item);
      if (step) items.push(step);
      // Paths beside each other stand in the step; what comes after them has the level of the step.
      open.push(...rest.reverse());
    }
  }

  /** A step with what stands in it, and what follows it on its own level: ids, and links. */
  function stepOf(id: string): { step: OutlineStep | null; rest: (string | OutlineLink)[] } {
    const node = flow.nodes.get(id);
    const type = node?.type ?? "";
    const definition = definitionOf(type);
    const isOnWay = (target: string, edge: GraphEdge) =>
      isStructure.has(edge) && gate.get(target) === id && ways.get(target)?.size === 1 && ways.get(target)?.has(edge.id) === true;
    const onward = (edge: GraphEdge) => (isOnWay(edge.target, edge) ? edge.target : link(edge));
    const path = (edge: GraphEdge): OutlineItem[] => {
      const item = onward(edge);
      return typeof item === "string" ? sequence(item) : [item];
    };
    const paths = (edges: readonly GraphEdge[]): OutlineItem[] => {
      const [only, ...others] = edges;
      if (only && others.length === 0) return path(only);
      return edges.map((edge, index) => ({
        kind: "group",
        key: `path ${edge.id}`,
        title: `Path ${index + 1} of ${edges.length}`,
        way: null,
        children: closed(path(edge)),
      }));
    };

    const own = next.get(id) ?? [];
    const edges = [...(flow.drawn.get(id) ?? []).filter((edge) => !isStructure.has(edge)), ...own];
    const handles = (node && handlesOf(node)) ?? [];
    const apart = handles.filter((handle) => handle === definition?.body?.handle);
    const others = handles.filter((handle) => handle !== definition?.body?.handle);
    // Of several ways none is the straight one.
    if (others.length > 1) apart.push(...others);
    const handleOf = (edge: GraphEdge) => edge.sourceHandle || definition?.body?.handle || handles[0] || "";
    const groups: OutlineGroup[] = apart.map((handle) => ({
      kind: "group",
      key: `way ${id} ${handle}`,
      title: wayTitle(node, handle),
      way: { nodeId: id, handle },
      children: closed(paths(edges.filter((edge) => handleOf(edge) === handle))),
    }));
    const straight = edges.filter((edge) => !apart.includes(handleOf(edge)));
    const isSplit = straight.length > 1 && id !== START;
    const onWay = new Set(edges.filter((edge) => isOnWay(edge.target, edge)).map((edge) => edge.target));
    const after = (inside.get(id) ?? []).filter((step) => !onWay.has(step));
    const children = isSplit ? [...groups, ...(paths(straight) as OutlineGroup[])] : groups;
    const rest = isSplit ? after : [...straight.map(onward), ...after];
    if (id === START) return { step: null, rest };
    const joins = (flow.before.get(id) ?? []).map((edge) => edge.source);
    return { step: { kind: "step", key: stepKey(id), nodeId: id, type, joins: joins.length > 1 ? joins : [], children }, rest };
  }
  if (members.size < 2) return [];
  const items = closed(sequence(START));
  for (let next = unfilled.pop(); next; next = unfilled.pop()) fill(next);
  for (const list of unclosed) {
    const isLeft = (item: OutlineItem, below: OutlineItem | undefined) =>
      !(item.kind === "link" && below?.kind === "step" && below.nodeId === item.nodeId);
    const left = list.filter((item, index) => isLeft(item, list[index + 1]));
    for (const [index, item] of left.entries()) list[index] = item;
    list.length = left.length;
  }
  return items;
}

/**
 * Edges as the outline stands on them: one that leaves the body of a loop counts from the loop, since what it leads to runs
 * once, after the last item.
 */
function structureOf(graph: Graph, edges: readonly GraphEdge[], nodes: ReadonlyMap<string, GraphNode>): GraphEdge[] {
  if (![...nodes.values()].some(({ type }) => definitionOf(type)?.body)) return [...edges];
  const { loopsAround } = makePlan(graph);
  const made = new Map<string, GraphEdge>();
  return edges.flatMap((edge) => {
    const body = definitionOf(nodes.get(edge.source)?.type ?? "")?.body?.handle;
    const isIntoBody = body !== undefined && (edge.sourceHandle || body) === body;
    const around = new Set(loopsAround(edge.target));
    const left = [...loopsAround(edge.source), ...(isIntoBody ? [edge.source] : [])].find((loop) => !around.has(loop));
    if (left === undefined) return [edge];
    const key = `${left} ${edge.target}`;
    if (made.has(key) || edges.some((other) => other !== edge && other.source === left && other.target === edge.target && !isIntoBody))
      return [];
    const loop = nodes.get(left);
    const done = loop && handlesOf(loop)?.find((handle) => handle !== definitionOf(loop.type)?.body?.handle);
    made.set(key, { id: `after ${key}`, source: left, target: edge.target, sourceHandle: done });
    return made.get(key) ?? [];
  });
}

/**
 * The outline of a workflow: the trigger and what follows it, in the order of the flow; each way of a branch and the body of a
 * loop as a group; what several paths lead to once, after them, and a link wherever else the flow comes to it. What no path
 * leads to stands under "Not connected", notes under "Notes".
 */
export function outlineOf(graph: Graph): OutlineItem[] {
  const isStep = (node: GraphNode) => definitionOf(node.type)?.isInert !== true;
  const steps = graph.nodes.filter(isStep);
  const nodes = new Map(steps.map((node) => [node.id, node]));
  const edges = graph.edges.filter(({ source, target }) => nodes.has(source) && nodes.has(target) && source !== target);
  const drawn = Map.groupBy(edges, (edge) => edge.source);
  const before = Map.groupBy(edges, (edge) => edge.target);
  const structure = structureOf(graph, edges, nodes);
  const next = Map.groupBy(structure, (edge) => edge.source);
  const triggers = steps.filter((node) => definitionOf(node.type)?.group === "trigger").map((node) => node.id);
  const main = outlineFrom(triggers, { nodes, next, drawn, before });

  const reachedFrom = (roots: readonly string[], ways: EdgesByNode) =>
    new Set(topologicalOrder(new Map([...ways, [START, edgesTo(roots)]])));
  const placed = reachedFrom(triggers, next);
  const loose = steps.filter((node) => !placed.has(node.id)).map((node) => node.id);
  const groups: OutlineGroup[] = [];
  if (loose.length > 0) {
    // Their edges into the flow above are links.
    const inner = structure.filter(({ source, target }) => !placed.has(source) && !placed.has(target));
    const within = Map.groupBy(inner, (edge) => edge.source);
    const entered = new Set(inner.map((edge) => edge.target));
    const roots = loose.filter((id) => !entered.has(id));
    // What is left then has no beginning: a circle, which a save refuses. It is entered anywhere.
    let reached = reachedFrom(roots, within);
    for (const id of loose) {
      if (reached.has(id)) continue;
      roots.push(id);
      reached = reachedFrom(roots, within);
    }
    const children = outlineFrom(roots, { nodes, next: within, drawn, before });
    groups.push({ kind: "group", key: "loose", title: "Not connected", way: null, children });
  }
  const notes = graph.nodes.filter((node) => !isStep(node));
  if (notes.length > 0)
    groups.push({
      kind: "group",
      key: "notes",
      title: "Notes",
      way: null,
      children: notes.map(({ id, type }) => ({ kind: "step", key: stepKey(id), nodeId: id, type, joins: [], children: [] })),
    });
  return [...main, ...groups];
}

const edgesTo = (roots: readonly string[]): GraphEdge[] => roots.map((target) => ({ id: `${START} ${target}`, source: START, target }));
