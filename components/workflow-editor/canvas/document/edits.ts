import {
  describeEdge,
  describeNode,
  type FlowDocument,
  type FlowEdge,
  type FlowNode,
  isNodeType,
  labelOf,
  type NodeData,
  toFlow,
  toGraph,
} from "#components/workflow-editor/canvas/document/flow-document.ts";
import { RESERVED_NAMES } from "#server/workflow/expressions.ts";
import { checkConnection, definitionOf, handlesOf, topologicalOrder } from "#server/workflow/graph.ts";
import { bodiesOf, descendantsOf, FRAME, framesOf, isLoop } from "#server/workflow/layout/loop-frames.ts";
import { CARD_WIDTH, NEXT_NODE_DISTANCE, sizeOf, WAY_DISTANCE } from "#server/workflow/layout/node-size.ts";
import { type NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import { type Names, namesFrom, withNames } from "#server/workflow/rename.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Pure edits of the document: each gives a new one and leaves the old one, which undo keeps, alone.

const newId = (stem: string): string => `${stem}-${crypto.randomUUID().slice(0, 8)}`;

/** `label`, or with the first number that makes it unlike every other. */
export function uniqueLabel(label: string, taken: ReadonlySet<string>): string {
  if (!taken.has(label)) return label;
  const stem = label.replace(/ \d+$/, "");
  for (let count = 2; ; count++) if (!taken.has(`${stem} ${count}`)) return `${stem} ${count}`;
}

const labelsOf = (document: FlowDocument, except?: string): Set<string> =>
  new Set(document.nodes.filter((node) => node.id !== except).map((node) => labelOf(document.data[node.id], node.type)));

/** A place near `wanted` on which no other node's corner lies. */
function freePosition(nodes: readonly FlowNode[], wanted: { x: number; y: number }): { x: number; y: number } {
  const isTaken = (x: number, y: number) => nodes.some((node) => Math.abs(node.position.x - x) < 24 && Math.abs(node.position.y - y) < 24);
  let { x, y } = { x: Math.round(wanted.x), y: Math.round(wanted.y) };
  while (isTaken(x, y)) {
    x += 32;
    y += 32;
  }
  return { x, y };
}

/** The one node at which the flow ends so far; undefined when it ends at several, so that nobody guesses. */
export function soleEndNode({ nodes, edges }: Pick<FlowDocument, "nodes" | "edges">): FlowNode | undefined {
  const sources = new Set(edges.map((edge) => edge.source));
  const ends = nodes.filter((node) => {
    const definition = definitionOf(node.type ?? "");
    return definition && !definition.isInert && !sources.has(node.id) && (definition.handles === null || definition.handles.length > 0);
  });
  return ends.length === 1 ? ends[0] : undefined;
}

/** Right of a card; of a loop inside its frame, or right of that. */
function beside(node: FlowNode, way: string | null, row: number): { x: number; y: number } {
  const { x, y } = node.position;
  if (!isLoop(node.type)) return { x: x + NEXT_NODE_DISTANCE, y: y + row * WAY_DISTANCE };
  if (way === definitionOf(node.type ?? "")?.body?.handle) return { x: x + FRAME.left, y: y + FRAME.head };
  return { x: x + Math.max(sizeOf(node).width, CARD_WIDTH) + NEXT_NODE_DISTANCE - CARD_WIDTH, y };
}

/**
 * The place right of a node, and the wish to follow it.
 * @param handle the way out; left out, the first that leads nowhere yet
 */
export function placementAfter(node: FlowNode, { edges, data }: Pick<FlowDocument, "edges" | "data">, handle?: string) {
  const handles = handlesOf({ type: node.type, data: data[node.id] });
  const isFree = (way: string) => !edges.some((edge) => edge.source === node.id && (edge.sourceHandle || handles?.[0]) === way);
  const way = handle ?? handles?.find(isFree) ?? handles?.[0] ?? null;
  const row = handles && way !== null ? handles.indexOf(way) : 0;
  return { position: beside(node, way, row), after: { nodeId: node.id, handle: way } };
}

/** Both ends of a new edge, by the first way out of `source` that the rules allow; with none, the first way and why not. */
export function firstAllowedConnection(graph: Graph, source: string, target: string): { ends: Ends; refusal: string | null } {
  const node = graph.nodes.find(({ id }) => id === source);
  const ways = (node && handlesOf(node)) ?? [null];
  const tries = (ways.length ? ways : [null]).map((sourceHandle) => {
    const ends = { source, target, sourceHandle };
    return { ends, refusal: checkConnection(graph, ends) };
  });
  return tries.find(({ refusal }) => refusal === null) ?? (tries[0] as (typeof tries)[number]);
}

const select = (nodes: readonly FlowNode[], ids: ReadonlySet<string>): FlowNode[] =>
  nodes.map((node) => ((node.selected ?? false) === ids.has(node.id) ? node : { ...node, selected: ids.has(node.id) }));

export interface Ends {
  source: string;
  target: string;
  sourceHandle?: string | null | undefined;
}

/** The edge that joins two nodes. */
export function newEdge({ source, target, sourceHandle }: Ends, document: Pick<FlowDocument, "nodes" | "data">): FlowEdge {
  const edge: FlowEdge = { id: newId("edge"), source, target, ...(sourceHandle && { sourceHandle }) };
  return describeEdge(edge, document);
}

export const connectNodes = (document: FlowDocument, ends: Ends): FlowDocument => ({
  ...document,
  edges: [...document.edges, newEdge(ends, document)],
});

/** A new node of this type, with its config's defaults and a label that no other node has; it is the only one selected. */
export function addNode(
  document: FlowDocument,
  type: NodeType,
  position: { x: number; y: number },
): { document: FlowDocument; id: string } {
  const definition = nodeDefinitions[type];
  const id = newId(type.replace(/Node$/, ""));
  const data: NodeData = { label: uniqueLabel(definition.title, labelsOf(document)), ...definition.config.parse({}) };
  const [node] = toFlow({ nodes: [{ id, type, position: freePosition(document.nodes, position), data }], edges: [] }).nodes;
  if (!node) return { document, id };
  return {
    id,
    document: {
      ...document,
      nodes: [...select(document.nodes, new Set()), { ...node, selected: true }],
      data: { ...document.data, [id]: data },
    },
  };
}

/** Puts `middle` into an edge: source → middle → target. */
export function spliceEdge(document: FlowDocument, edgeId: string, middle: string): FlowDocument {
  const edge = document.edges.find((candidate) => candidate.id === edgeId);
  if (!edge) return document;
  const type = document.nodes.find((node) => node.id === middle)?.type;
  const out = isNodeType(type) ? handlesOf({ type, data: document.data[middle] }) : null;
  const edges = document.edges.filter((candidate) => candidate.id !== edgeId);
  edges.push(newEdge({ source: edge.source, sourceHandle: edge.sourceHandle, target: middle }, document));
  // A node that nothing may follow ends the way here.
  if (out === null || out.length > 0) edges.push(newEdge({ source: middle, sourceHandle: out?.[0], target: edge.target }, document));
  return { ...document, edges };
}

/** The way out by which a chain goes on through a node: the only one that leads somewhere, else the first of its type that does. */
function wayThrough(document: FlowDocument, id: string, out: readonly Ends[]): Ends[] {
  const type = document.nodes.find((node) => node.id === id)?.type;
  const way = handlesOf({ type, data: document.data[id] })?.find((handle) => out.some(({ sourceHandle }) => sourceHandle === handle));
  return way === undefined ? [...out] : out.filter(({ sourceHandle }) => sourceHandle === way);
}

/** Its edges by the ways that a node's config has now: those of others are gone, and one may be called otherwise. */
export function withWaysOf(document: FlowDocument, nodeId: string): FlowDocument {
  const type = document.nodes.find((node) => node.id === nodeId)?.type;
  if (typeof definitionOf(type ?? "")?.handles !== "function") return document;
  const ways = handlesOf({ type, data: document.data[nodeId] }) ?? [];
  const kept = document.edges.filter(({ source, sourceHandle }) => source !== nodeId || ways.includes(sourceHandle ?? ""));
  const edges = kept.map((edge) => (edge.source === nodeId ? describeEdge(edge, document) : edge));
  const isSame = edges.length === document.edges.length && edges.every((edge, index) => edge === document.edges[index]);
  return isSame ? document : { ...document, edges };
}

/**
 * Without these nodes and edges, and without edges that would hang loose: what led to a node that goes leads on to what followed
 * it, as far as the rules allow. Says which ends were joined so.
 */
export function removeItems(
  document: FlowDocument,
  nodeIds: ReadonlySet<string>,
  edgeIds: ReadonlySet<string>,
): { document: FlowDocument; joined: FlowEdge[] } {
  const isGone = ({ source, target }: Ends) => nodeIds.has(source) || nodeIds.has(target);
  const edges = document.edges.filter((edge) => !nodeIds.has(edge.source) && !nodeIds.has(edge.target) && !edgeIds.has(edge.id));
  // One after the other is taken out of the chain, the last first, so that a way which ends among them is no way on.
  let bridges: Ends[] = document.edges.filter(isGone);
  const order = topologicalOrder(
    [...nodeIds],
    Map.groupBy(document.edges, (edge) => edge.source),
  );
  for (const id of order.reverse()) {
    const out = wayThrough(
      document,
      id,
      bridges.filter(({ source }) => source === id),
    );
    const into = bridges.filter(({ target }) => target === id);
    const over = into.flatMap(({ source, sourceHandle }) => out.map(({ target }) => ({ source, sourceHandle, target })));
    const rest = bridges.filter(({ source, target }) => source !== id && target !== id);
    const known = new Set(rest.map(endsKey));
    bridges = [...rest, ...over.filter((ends) => !known.has(endsKey(ends)) && known.add(endsKey(ends)))];
  }
  const nodes = document.nodes.filter((node) => !nodeIds.has(node.id));
  const data = Object.fromEntries(Object.entries(document.data).filter(([id]) => !nodeIds.has(id)));
  let next: FlowDocument = { nodes, edges, data };
  for (const ends of bridges) if (checkConnection(toGraph(next), ends) === null) next = connectNodes(next, ends);
  return { document: next, joined: next.edges.slice(edges.length) };
}

const endsKey = ({ source, sourceHandle, target }: Ends) => JSON.stringify([source, sourceHandle ?? null, target]);

/** Why a node may not be called so, or null. */
export function validateLabel(document: FlowDocument, nodeId: string, label: string): string | null {
  const wanted = label.trim();
  if (wanted === "") return "Give the node a name.";
  if (wanted.length > 120) return "A name has at most 120 characters.";
  if (/[{}]/.test(wanted)) return "Leave out braces: expressions stand in braces and could not read the name.";
  const type = document.nodes.find((node) => node.id === nodeId)?.type ?? "";
  const isOwn = definitionOf(type)?.group === wanted;
  const [root = ""] = wanted.split(/[.[]/);
  if (RESERVED_NAMES.includes(root) && !isOwn) return `Expressions read something else by "${wanted}". Give the node another name.`;
  if (labelsOf(document, nodeId).has(wanted)) return `Another node is called "${wanted}" already. Names are unique in a workflow.`;
  return null;
}

/** What expressions and conditions can call the nodes. */
const namesOf = (nodes: readonly { id: string; type?: string }[], data: Readonly<Record<string, NodeData>>): Names =>
  namesFrom(nodes.flatMap(({ id, type = "" }) => (definitionOf(type)?.isInert ? [] : [[id, labelOf(data[id], type).trim()] as const])));

/** The node under a new name; expressions and conditions that read the old one follow. */
export function renameNode(document: FlowDocument, nodeId: string, label: string): FlowDocument {
  const node = document.nodes.find((candidate) => candidate.id === nodeId);
  if (!node) return document;
  const before = namesOf(document.nodes, document.data);
  const after = namesOf(document.nodes, { ...document.data, [nodeId]: { ...document.data[nodeId], label } });
  const data = Object.fromEntries(
    document.nodes.map(({ id, type = "" }) => {
      const value = withNames(type, document.data[id] ?? {}, before, after);
      return [id, id === nodeId ? { ...value, label } : value];
    }),
  );
  return {
    data,
    nodes: document.nodes.map((candidate) => (candidate.id === nodeId ? describeNode(candidate, data[nodeId]) : candidate)),
    edges: document.edges.map((edge) =>
      edge.source === nodeId || edge.target === nodeId ? describeEdge(edge, { ...document, data }) : edge,
    ),
  };
}

/** These nodes, and what stands in the loops among them. */
export function withBodies(document: FlowDocument, nodeIds: readonly string[]): Set<string> {
  const ids = new Set(nodeIds);
  const bodies = bodiesOf(document);
  for (const loop of bodies.loops) if (ids.has(loop)) for (const inner of descendantsOf(bodies, loop)) ids.add(inner);
  return ids;
}

/** The part of the document that is selected: nodes, with the bodies of loops, and the edges between them. */
export function selectedGraph(document: FlowDocument): Graph {
  const ids = withBodies(
    document,
    document.nodes.filter((node) => node.selected).map((node) => node.id),
  );
  return toGraph({
    nodes: document.nodes.filter((node) => ids.has(node.id)),
    edges: document.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target)),
    data: document.data,
  });
}

/** Free space below what is there, above what is added to it (canvas units). */
const BELOW = 100;

/** Below everything that is drawn, flush with its left edge: where a whole graph can be added. */
export function positionBelowAll(document: FlowDocument): { x: number; y: number } {
  const bodies = bodiesOf(document);
  const frames = framesOf(document, bodies, new Set());
  const boxes = document.nodes.map((node) => frames.get(node.id) ?? { ...node.position, ...sizeOf(node) });
  if (boxes.length === 0) return { x: 0, y: 0 };
  return { x: Math.min(...boxes.map(({ x }) => x)), y: Math.max(...boxes.map(({ y, height }) => y + height)) + BELOW };
}

/**
 * Adds copies of a graph's nodes under new ids and labels; triggers are left out, a workflow has one.
 * @param at the top left corner of the copies; left out, a little beside where they were
 */
export function addCopies(document: FlowDocument, graph: Graph, at?: { x: number; y: number }): { document: FlowDocument; count: number } {
  const copied = graph.nodes.filter((node) => isNodeType(node.type) && definitionOf(node.type)?.group !== "trigger");
  const corner = { x: Math.min(...copied.map(({ position }) => position.x)), y: Math.min(...copied.map(({ position }) => position.y)) };
  const offset = at ? { x: at.x - corner.x, y: at.y - corner.y } : { x: 40, y: 40 };
  const ids = new Map<string, string>();
  const taken = labelsOf(document);
  const nodes = copied.map((node) => {
    const id = newId(node.type.replace(/Node$/, ""));
    const label = uniqueLabel(labelOf(node.data, node.type), taken);
    taken.add(label);
    ids.set(node.id, id);
    return { ...node, id, position: { x: node.position.x + offset.x, y: node.position.y + offset.y }, data: { ...node.data, label } };
  });
  // Copies read each other; whatever else they read stays as it is written.
  const as = (id: string) => ids.get(id) ?? id;
  const before = namesOf(
    copied.map(({ id, type }) => ({ id: as(id), type })),
    Object.fromEntries(copied.map(({ id, data }) => [as(id), data])),
  );
  const after = namesOf([...document.nodes, ...nodes], {
    ...document.data,
    ...Object.fromEntries(nodes.map(({ id, data }) => [id, data])),
  });
  const added = toFlow({
    nodes: nodes.map((node) => ({ ...node, data: withNames(node.type, node.data, before, after) })),
    edges: graph.edges.flatMap((edge) => {
      const [source, target] = [ids.get(edge.source), ids.get(edge.target)];
      return source && target ? [{ ...edge, id: newId("edge"), source, target }] : [];
    }),
  });
  return {
    count: nodes.length,
    document: {
      nodes: [...select(document.nodes, new Set()), ...added.nodes.map((node) => ({ ...node, selected: true }))],
      edges: [...document.edges.map((edge) => (edge.selected ? { ...edge, selected: false } : edge)), ...added.edges],
      data: { ...document.data, ...added.data },
    },
  };
}

/** Where a new node goes: a place, and what it is to be joined to. */
export interface Placement {
  position: { x: number; y: number };
  /** The node that it follows, as far as the rules allow it. */
  after?: { nodeId: string; handle: string | null };
  /** The edge that it is put into. */
  edgeId?: string;
  /** Somebody has put it there by hand: it stays, whatever it lies on. */
  isExact?: boolean;
}

/** Into the connection, when one alone is selected. */
export function placementInSelectedEdge({ nodes, edges }: Pick<FlowDocument, "nodes" | "edges">): Placement | null {
  const [edge, ...others] = edges.filter((candidate) => candidate.selected);
  const ends = edge && [edge.source, edge.target].map((id) => nodes.find((node) => node.id === id)?.position);
  if (!edge || others.length > 0 || !ends?.[0] || !ends[1]) return null;
  return { position: { x: (ends[0].x + ends[1].x) / 2, y: (ends[0].y + ends[1].y) / 2 }, edgeId: edge.id };
}
