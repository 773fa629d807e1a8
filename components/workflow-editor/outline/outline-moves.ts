import type { Placement } from "#components/workflow-editor/canvas/document/edits.ts";
import { placementAfter } from "#components/workflow-editor/canvas/document/edits.ts";
import { labelOf, typeTitle } from "#components/workflow-editor/canvas/document/flow-document.ts";
import type { EditorState } from "#components/workflow-editor/canvas/store/editor-store.ts";
import { checkConnection, definitionOf, handlesOf } from "#server/workflow/graph.ts";
import type { Graph, GraphNode } from "#server/workflow/schema.ts";

// Edits that the outline offers beyond those of the canvas. Pure: each gives a new graph or says why not.

const nameOf = (node: GraphNode): string => labelOf(node.data, node.type);

/** Whether a node has one way in and one way out, so that it can stand anywhere in a line. */
const isPlain = (node: GraphNode): boolean => {
  const definition = definitionOf(node.type);
  return definition?.hasInput === true && definition.handles === null;
};

/**
 * Lets a step change places with the one before or after it, when the two follow each other in a straight line; they change
 * places on the canvas too.
 */
export function moveStep(graph: Graph, nodeId: string, direction: "up" | "down"): { graph: Graph } | { refusal: string } {
  const node = graph.nodes.find((candidate) => candidate.id === nodeId);
  if (!node) return { refusal: "This step is not in the workflow any more." };
  const beside = graph.edges.filter((edge) => (direction === "up" ? edge.target : edge.source) === nodeId);
  const otherId = direction === "up" ? beside[0]?.source : beside[0]?.target;
  const other = graph.nodes.find((candidate) => candidate.id === otherId);
  if (!other || beside.length === 0) return { refusal: `There is no step ${direction === "up" ? "before" : "after"} ${nameOf(node)}.` };
  if (beside.length > 1)
    return { refusal: `${nameOf(node)} ${direction === "up" ? "joins" : "leads to"} several paths: it cannot change places.` };
  const [first, second] = direction === "up" ? [other, node] : [node, other];
  for (const one of [first, second])
    if (!isPlain(one)) return { refusal: `A ${typeTitle(one.type)} cannot change places with another step.` };
  const middle = graph.edges.find((edge) => edge.source === first.id && edge.target === second.id);
  const isAlone = graph.edges.every((edge) => edge === middle || (edge.source !== first.id && edge.target !== second.id));
  if (!middle || !isAlone)
    return { refusal: `Other paths come between ${nameOf(first)} and ${nameOf(second)}: they cannot change places.` };

  const edges = graph.edges.map((edge) => {
    if (edge === middle) return { ...edge, source: second.id, target: first.id };
    if (edge.target === first.id) return { ...edge, target: second.id };
    return edge.source === second.id ? { ...edge, source: first.id } : edge;
  });
  const nodes = graph.nodes.map((one) =>
    one === first ? { ...one, position: second.position } : one === second ? { ...one, position: first.position } : one,
  );
  const refusal = edges
    .filter((edge, index) => edge !== graph.edges[index])
    .map((edge) => checkConnection({ nodes, edges: edges.filter((candidate) => candidate !== edge) }, edge))
    .find((reason) => reason !== null);
  return refusal ? { refusal } : { graph: { ...graph, nodes, edges } };
}

/**
 * Where a new step goes that is to follow this one: into the edge when one leads on, else at the end of the way.
 * @param handle the way out; left out, the straight one
 */
export function insertAfter(state: Pick<EditorState, "nodes" | "edges" | "data">, nodeId: string, handle?: string): Placement | null {
  const node = state.nodes.find((candidate) => candidate.id === nodeId);
  const definition = definitionOf(node?.type ?? "");
  const handles = node && handlesOf({ type: node.type, data: state.data[nodeId] });
  if (!node || !definition || definition.isInert || handles?.length === 0) return null;
  const straight = definition.body ? handles?.find((way) => way !== definition.body?.handle) : undefined;
  const way = handle ?? straight;
  const after = placementAfter(node, state, way);
  const first = definition.body?.handle ?? handles?.[0] ?? null;
  const onward = state.edges.filter((edge) => edge.source === nodeId && (edge.sourceHandle || first) === after.after.handle);
  const [only] = onward;
  const target = onward.length === 1 && only ? state.nodes.find((candidate) => candidate.id === only.target) : undefined;
  if (!only || !target) return after;
  const middle = { x: (node.position.x + target.position.x) / 2, y: (node.position.y + target.position.y) / 2 + 60 };
  return { position: middle, edgeId: only.id };
}
