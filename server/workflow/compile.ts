import { eachExpression } from "#server/workflow/expression-scan.ts";
import { partsOf, slugOf } from "#server/workflow/expressions.ts";
import { definitionOf, labelOf, MAX_LOOPS, topologicalOrder } from "#server/workflow/graph.ts";
import { textsOf } from "#server/workflow/node-texts.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

// What belongs to which loop, and which edges count where (contract, section 4: Loop). Pure and browser-safe: the run,
// the checks at save and the canvas ask the same function.

/** An edge as the scheduler sees it: within one scope, or from an outer scope into it. */
export interface PlanEdge {
  source: string;
  target: string;
  /** The way out of the source that it leaves by; "" where any result counts. */
  handle: string;
  /** Of an edge that leads from outside into a loop's body: the loop waits for it, whatever it brings. */
  isGate: boolean;
}

/** What runs as one: the whole workflow, or the body of one loop, once for each item. */
export interface PlanScope {
  /** The loop whose body this is; null for the workflow. */
  loop: string | null;
  /** Its own nodes in graph order; the bodies of loops among them are scopes of their own. */
  nodeIds: readonly string[];
  index: ReadonlyMap<string, number>;
  incoming: ReadonlyMap<string, readonly PlanEdge[]>;
  outgoing: ReadonlyMap<string, readonly PlanEdge[]>;
  /** Nodes that start without anything before them: the trigger. */
  roots: ReadonlySet<string>;
  /** Nodes that nothing of the scope follows: what they leave behind is an item's result. */
  ends: readonly string[];
}

export interface Plan {
  /** By loop id; null is the workflow itself. */
  scopes: ReadonlyMap<string | null, PlanScope>;
  /** Edges into each node, whichever scope it is in. */
  incoming: ReadonlyMap<string, readonly PlanEdge[]>;
  /** The loop whose body a node belongs to, or null. */
  ownerOf(id: string): string | null;
  /** The loops around a node, the outermost first. */
  loopsAround(id: string): readonly string[];
  /** Nodes that two loops claim, neither of them inside the other. */
  contested: readonly { node_id: string; loops: [string, string] }[];
}

/** What the plan must know of node types. */
export interface Language {
  isRoot(type: string): boolean;
  isInert(type: string): boolean;
  /** Of a loop, the handle of its body. */
  bodyHandle(type: string): string | undefined;
  /** The texts of a node that may hold expressions. */
  templates(node: GraphNode): string[];
  /** Edges that their target waits for, whatever they bring; left out, none. */
  isGate?(edge: GraphEdge): boolean;
}

export const language: Language = {
  isRoot: (type) => definitionOf(type)?.group === "trigger",
  isInert: (type) => definitionOf(type)?.isInert === true,
  bodyHandle: (type) => definitionOf(type)?.body?.handle,
  templates: ({ type, data }) => textsOf(definitionOf(type), data, "template").map(({ text }) => text),
};

type Next = ReadonlyMap<string, readonly GraphEdge[]>;

/** `from` and everything that can be reached from it. */
function reach(next: Next, from: Iterable<string>): Set<string> {
  const found = new Set(from);
  for (const id of found) for (const { target } of next.get(id) ?? []) found.add(target);
  return found;
}

/** End of a name in a reference, followed by `.output`. */
const OUTPUT_READ = /[.[](?:(?<=\.)\s*output\s*(?=[.[\]|]|$)|(?<=\[)(?:"output"|'output')\])|[.[]/g;

/** Names in which a reader is looked for are at most this long, dots and brackets in them included. */
const MAX_NAME_LENGTH = 200;
const MAX_NAME_ENDS = 6;

/** Collects the names whose output a text reads, by every reading of a name with dots, without parsing the rest of a reference. */
function collectNames(template: string, names: Set<string>): void {
  for (const { source, isEscaped } of eachExpression(template)) {
    if (isEscaped) continue;
    const inner = source
      .slice(2, MAX_NAME_LENGTH + 2)
      .replace(/(?<!\})\}+$/, "")
      .trim();
    let ends = 0;
    for (const { 0: found, index } of inner.matchAll(OUTPUT_READ)) {
      if (++ends > MAX_NAME_ENDS) break;
      if (found.length > 1 && index > 0) names.add(inner.slice(0, index).trim());
    }
  }
}

/** The names whose output a node reads, as they are written and in parts. */
function namesRead(templates: readonly string[]): Set<string> {
  const names = new Set<string>();
  for (const template of templates) collectNames(template, names);
  for (const name of [...names]) names.add(partsOf(name));
  return names;
}

const namesOfData = new WeakMap<object, { type: string; names: Set<string> }>();

/** The same of a node, found out once for each version of its data: a canvas asks for all nodes at every key. */
function namesReadBy(node: GraphNode, templates: Language["templates"]): Set<string> {
  const known = namesOfData.get(node.data);
  if (known?.type === node.type) return known.names;
  const names = namesRead(templates(node));
  if (templates === language.templates) namesOfData.set(node.data, { type: node.type, names });
  return names;
}

/** Reads the names of each node in slices, so that `makePlan` finds them in the cache. */
export function* prepareNames({ nodes }: Graph): Generator<void> {
  if (!nodes.some(({ type }) => language.bodyHandle(type) !== undefined)) return;
  for (const node of nodes) {
    yield;
    namesReadBy(node, language.templates);
  }
}

const append = <Key, Value>(map: Map<Key, Value[]>, key: Key, value: Value) => {
  const list = map.get(key);
  if (list) list.push(value);
  else map.set(key, [value]);
};

/** Which loop's body each node belongs to, and who is claimed twice. */
function owners(nodes: readonly GraphNode[], next: Next, { bodyHandle, templates }: Language) {
  const ownerOf = new Map<string, string | null>(nodes.map((node) => [node.id, null]));
  const contested: { node_id: string; loops: [string, string] }[] = [];
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const around = (id: string): string[] => {
    const chain: string[] = [];
    for (let owner = ownerOf.get(id) ?? null; owner !== null; owner = ownerOf.get(owner) ?? null) chain.push(owner);
    return chain.reverse();
  };
  const readBy = (id: string): Set<string> => namesReadBy(byId.get(id) as GraphNode, templates);
  const loops = nodes.filter((node) => bodyHandle(node.type) !== undefined);
  const order = loops.length ? topologicalOrder([...byId.keys()], next) : [];
  let divided = 0;
  // Outer loops come before the loops in their bodies, so a node ends up with its innermost one.
  for (const id of order) {
    const loop = byId.get(id);
    const handle = loop && bodyHandle(loop.type);
    if (!loop || handle === undefined) continue;
    // A save refuses more loops, and no run starts with them; a draft may have them.
    if (++divided > MAX_LOOPS) break;
    const isBody = (edge: GraphEdge) => (edge.sourceHandle || handle) === handle;
    const edges = next.get(id) ?? [];
    const inside = reach(
      next,
      edges.filter(isBody).map((edge) => edge.target),
    );
    const label = labelOf(loop);
    const names = [label, slugOf(label), partsOf(label)];
    const readers = [...inside].filter((node) => names.some((name) => readBy(node).has(name)));
    const after = reach(next, [...edges.filter((edge) => !isBody(edge)).map((edge) => edge.target), ...readers]);
    const outer = ownerOf.get(id) ?? null;
    const above = around(id);
    for (const node of inside) {
      if (after.has(node)) continue;
      const owner = ownerOf.get(node) ?? null;
      if (owner === outer) ownerOf.set(node, id);
      else if (owner !== null && !above.includes(owner)) contested.push({ node_id: node, loops: [owner, id] });
    }
  }
  return { ownerOf, contested, around };
}

/** Divides a graph into the workflow and the bodies of its loops, and sorts its edges into them. */
export function makePlan(graph: Graph, types: Language = language): Plan {
  const nodes = graph.nodes.filter((node) => !types.isInert(node.type));
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = graph.edges.filter((edge) => byId.has(edge.source) && byId.has(edge.target));
  const next = Map.groupBy(edges, (edge) => edge.source);
  const { ownerOf, contested, around } = owners(nodes, next, types);
  const chains = new Map(nodes.map(({ id }) => [id, around(id)]));
  // The same list each time: a screen that compares what it reads with what it had would otherwise never come to rest.
  const none: readonly string[] = [];
  const chainOf = (id: string) => chains.get(id) ?? none;

  const incoming = new Map<string, PlanEdge[]>();
  for (const edge of edges) {
    const { source, target, sourceHandle } = edge;
    const handle = types.bodyHandle(byId.get(source)?.type ?? "");
    const isInto = handle !== undefined && (sourceHandle || handle) === handle && chainOf(target).includes(source);
    const from = isInto ? [...chainOf(source), source] : chainOf(source);
    const to = chainOf(target);
    let common = 0;
    while (common < from.length && common < to.length && from[common] === to[common]) common++;
    // Seen from outside its body, a node is its loop: what follows it waits for the whole loop.
    const seen = from[common] ?? source;
    const way = seen === source && handle === undefined ? (sourceHandle ?? "") : "";
    append(incoming, target, { source: seen, target, handle: way, isGate: types.isGate?.(edge) ?? false });
    const entered = to[common];
    const isBeside = common === chainOf(seen).length && entered !== seen;
    if (entered !== undefined && isBeside) append(incoming, entered, { source: seen, target: entered, handle: way, isGate: true });
  }

  const members = Map.groupBy(nodes, ({ id }) => ownerOf.get(id) ?? null);
  const loops = nodes.filter((node) => types.bodyHandle(node.type) !== undefined).map((node) => node.id);
  const scopes = new Map([null, ...loops].map((loop) => [loop, planScopeOf(loop, members.get(loop) ?? [], incoming, types)]));
  return { scopes, incoming, contested, ownerOf: (id) => ownerOf.get(id) ?? null, loopsAround: chainOf };
}

/** These nodes and every node of the scope that depends on one of them; a loop stands for everything in its body. */
export function dependentsOf({ outgoing }: PlanScope, ...from: string[]): Set<string> {
  const found = new Set(from);
  for (const id of found) for (const { target } of outgoing.get(id) ?? []) found.add(target);
  return found;
}

function planScopeOf(
  loop: string | null,
  members: readonly GraphNode[],
  incoming: ReadonlyMap<string, PlanEdge[]>,
  types: Language,
): PlanScope {
  const nodeIds = members.map((node) => node.id);
  const index = new Map(nodeIds.map((id, position) => [id, position]));
  const outgoing = new Map<string, PlanEdge[]>();
  for (const id of nodeIds) for (const edge of incoming.get(id) ?? []) if (index.has(edge.source)) append(outgoing, edge.source, edge);
  return {
    loop,
    nodeIds,
    index,
    incoming,
    outgoing,
    roots: new Set(members.filter((node) => types.isRoot(node.type)).map((node) => node.id)),
    ends: nodeIds.filter((id) => !outgoing.has(id)),
  };
}
