import { comparableJson } from "#server/shared/canonical-json.ts";
import { definitionOf, withoutPlainHandles } from "#server/workflow/graph.ts";
import type { Graph, GraphEdge, GraphNode } from "#server/workflow/schema.ts";

// What two graphs of one workflow have not in common. Pure and browser-safe: a save counts with it, the canvas draws with it.

/** A field that is not the same; `undefined` on the side that does not have it. */
export interface FieldChange {
  /** Key of the node's `data`, or of the node or edge itself, such as `type` or `source`. */
  field: string;
  before: unknown;
  after: unknown;
}

export type EdgeDiffKind = "added" | "removed" | "changed";
/** `moved`: only its place or size on the canvas is another, which no run notices. */
export type NodeDiffKind = EdgeDiffKind | "moved";

export interface NodeDiff {
  id: string;
  kind: NodeDiffKind;
  /** As it is after, or was before when it is removed. */
  node: GraphNode;
  /** Empty unless it is changed. */
  fields: FieldChange[];
}

export interface EdgeDiff {
  id: string;
  kind: EdgeDiffKind;
  edge: GraphEdge;
  fields: FieldChange[];
}

export interface GraphDiff {
  nodes: NodeDiff[];
  edges: EdgeDiff[];
}

/** How much a diff says. Moved nodes do not count. */
export interface DiffCounts {
  nodes_added: number;
  nodes_changed: number;
  nodes_removed: number;
  /** Added, changed and removed together. */
  edges_changed: number;
}

/** Keys that tell where and how large something is drawn. */
export const LAYOUT: ReadonlySet<string> = new Set(["position", "width", "height", "zIndex", "style"]);
/** The same of a node's data. */
export const LAYOUT_DATA: ReadonlySet<string> = new Set(["collapsed"]);
/** Keys that only an open canvas has. */
const TRANSIENT = new Set(["selected", "dragging", "resizing", "measured", "ariaLabel", "domAttributes"]);

/** The keys of both whose values differ, in the order of `after`, then those that only `before` has. */
function changedFields(before: Record<string, unknown>, after: Record<string, unknown>, skip: (key: string) => boolean): FieldChange[] {
  const keys = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return keys.flatMap((field) =>
    skip(field) || comparableJson(before[field]) === comparableJson(after[field])
      ? []
      : [{ field, before: before[field], after: after[field] }],
  );
}

/** What a node's fields hold when nobody has set them. */
const defaultsOf = (type: string): Record<string, unknown> => definitionOf(type)?.config.safeParse({}).data ?? {};

/** How one node differs from what it was; null when it does not. */
export function diffNode(before: GraphNode, after: GraphNode): NodeDiff | null {
  // A field that one side leaves out and the other sets to what it would be anyway.
  const isUnsaid = (key: string) => {
    const [left, right] = [before.data[key], after.data[key]];
    if (LAYOUT_DATA.has(key)) return true;
    return (left === undefined) !== (right === undefined) && comparableJson(left ?? right) === comparableJson(defaultsOf(after.type)[key]);
  };
  const isAside = (key: string) => key === "data" || LAYOUT.has(key) || TRANSIENT.has(key);
  const fields = [...changedFields(before, after, isAside), ...changedFields(before.data, after.data, isUnsaid)];
  if (fields.length) return { id: after.id, kind: "changed", node: after, fields };
  return hasMoved(before, after) ? { id: after.id, kind: "moved", node: after, fields: [] } : null;
}

/** The fields of a node that differ; of a node that is new, those that are not what they would be anyway. */
export const saidFields = ({ kind, node, fields }: NodeDiff): FieldChange[] =>
  kind === "added" ? (diffNode({ ...node, data: { label: node.data.label } }, node)?.fields ?? []) : fields;

/** Whether a node is drawn elsewhere, or in another size. */
export const hasMoved = (before: GraphNode, after: GraphNode): boolean =>
  [...LAYOUT].some((key) => comparableJson(before[key]) !== comparableJson(after[key])) ||
  [...LAYOUT_DATA].some((key) => comparableJson(before.data[key]) !== comparableJson(after.data[key]));

/** What of an edge is another; its id does not count. */
export const edgeChanges = (before: GraphEdge, after: GraphEdge): FieldChange[] =>
  changedFields(withoutPlainHandles(before), withoutPlainHandles(after), (key) => key === "id" || key === "zIndex" || TRANSIENT.has(key));

/** What an edge joins; two edges with the same ends are one to a reader. */
export function ends(edge: GraphEdge): string {
  const { source, sourceHandle, target, targetHandle } = withoutPlainHandles(edge);
  return comparableJson([source, sourceHandle, target, targetHandle]);
}

/**
 * What is added, removed, changed or only moved on the way from one graph to another. Nodes are matched by id; edges by id,
 * and those left over by their ends, because a connection that was drawn anew is the same one to a reader.
 */
export function diffGraphs(before: Graph, after: Graph): GraphDiff {
  const oldNodes = new Map(before.nodes.map((node) => [node.id, node]));
  const newNodes = new Set(after.nodes.map((node) => node.id));
  const nodes = after.nodes.flatMap((node): NodeDiff[] => {
    const old = oldNodes.get(node.id);
    if (!old) return [{ id: node.id, kind: "added", node, fields: [] }];
    const diff = diffNode(old, node);
    return diff ? [diff] : [];
  });
  for (const node of before.nodes) if (!newNodes.has(node.id)) nodes.push({ id: node.id, kind: "removed", node, fields: [] });

  const oldEdges = new Map(before.edges.map((edge) => [edge.id, edge]));
  const newEdges = new Set(after.edges.map((edge) => edge.id));
  const gone = Map.groupBy(
    before.edges.filter((edge) => !newEdges.has(edge.id)),
    ends,
  );
  const edges = after.edges.flatMap((edge): EdgeDiff[] => {
    const old = oldEdges.get(edge.id) ?? gone.get(ends(edge))?.shift();
    if (!old) return [{ id: edge.id, kind: "added", edge, fields: [] }];
    const fields = edgeChanges(old, edge);
    return fields.length ? [{ id: edge.id, kind: "changed", edge, fields }] : [];
  });
  for (const edge of [...gone.values()].flat()) edges.push({ id: edge.id, kind: "removed", edge, fields: [] });
  return { nodes, edges };
}

export function countDiff({ nodes, edges }: GraphDiff): DiffCounts {
  const count = (kind: NodeDiffKind) => nodes.filter((node) => node.kind === kind).length;
  return {
    nodes_added: count("added"),
    nodes_changed: count("changed"),
    nodes_removed: count("removed"),
    edges_changed: edges.length,
  };
}
