import type { Edge, Node } from "@xyflow/react";
import { handleTitle, withoutPlainHandles } from "#server/workflow/graph.ts";
import { type NodeType, nodeDefinitions } from "#server/workflow/nodes/registry.gen.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

/** Label and config fields of one node, as the graph keeps them. */
export type NodeData = Record<string, unknown>;

/** A node as React Flow draws it. Its config lives beside it (`data` of the store), so that typing in a field leaves React Flow alone. */
export type FlowNode = Node<LoopNodeData, string> & Kept;
/** How a loop is drawn. */
export interface LoopNodeData extends Record<string, unknown> {
  /** As a frame: where the line into its body starts, below the frame's top. */
  entry?: number;
  /** As one card: how many nodes it hides. */
  hides?: number;
}
export type FlowEdge = Edge & Kept;
/** Keys of the graph that have no part in the drawing, as they came. */
type Kept = { kept?: Readonly<Record<string, unknown>> };

/** What the editor edits: React Flow's nodes and edges, and each node's data by id. */
export interface FlowDocument {
  nodes: FlowNode[];
  edges: FlowEdge[];
  data: Record<string, NodeData>;
}

const EMPTY: Record<string, never> = {};
/** Keys that React Flow or this editor adds while drawing; they never reach the server. */
const TRANSIENT = ["selected", "dragging", "resizing", "measured", "ariaLabel", "domAttributes"] as const;

/**
 * What of a graph React Flow is given to draw. It would take style, class names and attributes from it too, and so whoever writes a
 * graph could load addresses in the browser of whoever looks at it, or lay a node over the whole page.
 */
const DRAWN = {
  node: ["id", "type", "position", "parentId", "width", "height", "zIndex"],
  edge: ["id", "type", "source", "target", "sourceHandle", "targetHandle", "animated", "label"],
} as const;

function without<Item extends object>(item: Item, keys: readonly string[]): Item {
  return Object.fromEntries(Object.entries(item).filter(([key]) => !keys.includes(key))) as Item;
}

/** The part of a node or edge that is drawn, with the rest in `kept`. */
function drawn<Item extends GraphNode | GraphEdge>(item: Item, keys: readonly string[]): Item & Kept {
  const isDrawn = ([key, value]: [string, unknown]) =>
    keys.includes(key) && (key === "position" || value === null || typeof value !== "object");
  const entries = Object.entries(without(item, TRANSIENT));
  const kept = entries.filter((entry) => !isDrawn(entry));
  return { ...(Object.fromEntries(entries.filter(isDrawn)) as Item), ...(kept.length > 0 && { kept: Object.fromEntries(kept) }) };
}

/** The same with what was kept back in its place. */
const asKept = <Item extends FlowNode | FlowEdge>({ kept, ...item }: Item, transient: readonly string[]) => ({
  ...kept,
  ...without(item, transient),
});

export const isNodeType = (type: string | undefined): type is NodeType => type !== undefined && Object.hasOwn(nodeDefinitions, type);

/** The name of a node's type, e.g. "Agent"; the raw type for one that this version does not know. */
export const typeTitle = (type: string | undefined): string => (isNodeType(type) ? nodeDefinitions[type].title : (type ?? "Node"));

/** The label that people gave a node; its type's name when it has none. */
export function labelOf(data: NodeData | undefined, type?: string): string {
  const label = data?.label;
  return typeof label === "string" && label.trim() !== "" ? label : typeTitle(type);
}

/** "Agent Research": how assistive technology calls a node. */
export function accessibleName(type: string | undefined, data: NodeData | undefined): string {
  const title = typeTitle(type);
  const label = labelOf(data, type);
  return label === title ? title : `${title} ${label}`;
}

/** Id of the hidden text that tells a node's state and problems; the node is described by it. */
export const stateTextId = (nodeId: string): string => `node-state-${nodeId}`;

/** The node with what depends on its data brought up to date. */
export function describeNode(node: FlowNode, data: NodeData | undefined): FlowNode {
  return { ...node, ariaLabel: accessibleName(node.type, data), domAttributes: { "aria-describedby": stateTextId(node.id) } };
}

/** The edge with a name that follows the labels of its ends, and what the way is called by which it leaves. */
export function describeEdge(edge: FlowEdge, { nodes, data }: Pick<FlowDocument, "nodes" | "data">): FlowEdge {
  const { source, target, sourceHandle } = edge;
  const way = () => handleTitle({ type: nodes.find(({ id }) => id === source)?.type, data: data[source] }, sourceHandle ?? "");
  const ariaLabel = `Connection from ${labelOf(data[source])}${sourceHandle ? ` (${way()})` : ""} to ${labelOf(data[target])}`;
  return edge.ariaLabel === ariaLabel && edge.type ? edge : { ...edge, type: edge.type ?? "flow", ariaLabel };
}

/** Graph → what the editor edits. Keys that we do not know are kept. */
export function toFlow(graph: Graph): FlowDocument {
  const data = Object.fromEntries(graph.nodes.map((node) => [node.id, node.data]));
  const nodes = graph.nodes.map((node) => {
    const { data: _, ...look } = node;
    const flowNode = { ...drawn(look as GraphNode, DRAWN.node), data: EMPTY } as FlowNode;
    if (node.type === "noteNode" && flowNode.zIndex === undefined) flowNode.zIndex = -1;
    return describeNode(flowNode, node.data);
  });
  // React Flow draws no line to a name that no port has.
  const edges = graph.edges.map((edge) => describeEdge(withoutPlainHandles(drawn(edge, DRAWN.edge) as FlowEdge), { nodes, data }));
  return { nodes, edges, data };
}

/** The editor's document → graph as the API takes it: `toGraph(toFlow(g))` equals `g`, drawing state aside. */
export function toGraph(document: FlowDocument): Graph {
  const nodes = document.nodes.map((node) => {
    const { position, ...rest } = asKept(node, node.type === "noteNode" && node.zIndex === -1 ? [...TRANSIENT, "zIndex"] : TRANSIENT);
    return { ...rest, position: { x: position.x, y: position.y }, data: document.data[node.id] ?? {} } as GraphNode;
  });
  const edges = document.edges.map((edge) => asKept(edge, edge.type === "flow" ? [...TRANSIENT, "type"] : TRANSIENT) as GraphEdge);
  return { nodes, edges };
}

/** True when two graphs say the same: order of keys, and keys without a value, aside. */
export function sameGraph(a: Graph, b: Graph): boolean {
  return canonical(a) === canonical(b);
}

function canonical(graph: Graph): string {
  const { nodes, edges } = toGraph(toFlow(graph));
  return JSON.stringify({ nodes, edges }, (_key, value: unknown) =>
    value !== null && typeof value === "object" && !Array.isArray(value)
      ? Object.fromEntries(
          Object.entries(value)
            .filter(([, item]) => item !== null && item !== undefined)
            .sort(([left], [right]) => (left < right ? -1 : 1)),
        )
      : value,
  );
}
