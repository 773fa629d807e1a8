import { type FlowDocument, toGraph } from "#components/workflow-editor/canvas/document/flow-document.ts";
import { isLoop } from "#server/workflow/layout/loop-frames.ts";

/** Those that are not among the others, or not as they are there. */
function unlike<Item extends { id: string }>(items: readonly Item[], others: readonly Item[]): Item[] {
  const known = new Map(others.map((item) => [item.id, JSON.stringify(item)]));
  return items.filter((item) => known.get(item.id) !== JSON.stringify(item));
}

/**
 * What is selected after a step: of what it brings back or changes that which was selected when it was made, or else all of
 * it. Connections are selected only when it leaves every node alone.
 */
function selectionOf(
  to: FlowDocument,
  from: FlowDocument,
): { nodes: ReadonlySet<string>; edges: ReadonlySet<string>; changed: ReadonlySet<string> } {
  const [then, now] = [toGraph(to), toGraph(from)];
  const nodes = unlike(then.nodes, now.nodes);
  const edges = unlike(then.edges, now.edges);
  const ids = (items: readonly { id: string }[]) => new Set(items.map(({ id }) => id));
  const wasSelected = ids(to.nodes.filter((node) => node.selected));
  const chosen = nodes.filter(({ id }) => wasSelected.has(id));
  // A frame's place follows its body: that alone is no change of the loop.
  const placeless = (items: typeof nodes) => items.map((node) => (isLoop(node.type) ? { ...node, position: { x: 0, y: 0 } } : node));
  return {
    nodes: ids(chosen.length ? chosen : unlike(placeless(nodes), placeless(now.nodes))),
    edges: ids(nodes.length ? [] : edges),
    changed: ids(nodes),
  };
}

/** The document of a step as it is drawn now: with today's measurements, and selected only what the step brings back or changes. */
export function restoreDocument(document: FlowDocument, current: FlowDocument): FlowDocument {
  const { nodes, edges, changed } = selectionOf(document, current);
  const now = new Map(current.nodes.map((node) => [node.id, node]));
  return {
    ...document,
    nodes: document.nodes.map((node) => {
      const same = now.get(node.id);
      const selected = nodes.has(node.id);
      // What looks as it did stays the same object, so that React Flow leaves it alone.
      if (same && !changed.has(node.id)) return (same.selected ?? false) === selected ? same : { ...same, selected };
      return { ...node, dragging: false, selected, ...(same?.measured && { measured: same.measured }) };
    }),
    edges: document.edges.map((edge) =>
      (edge.selected ?? false) === edges.has(edge.id) ? edge : { ...edge, selected: edges.has(edge.id) },
    ),
  };
}

/** Another document in the place of this one: what was selected stays so, as far as it is still there. */
export function replaceDocument(document: FlowDocument, current: FlowDocument): FlowDocument {
  const now = new Map(current.nodes.map((node) => [node.id, node]));
  return {
    ...document,
    nodes: document.nodes.map((node) => {
      const { selected = false, measured } = now.get(node.id) ?? {};
      return { ...node, selected, ...(measured && { measured }) };
    }),
  };
}
