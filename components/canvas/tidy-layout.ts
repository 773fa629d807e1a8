import { Graph as DagreGraph, layout } from "@dagrejs/dagre";
import type { FlowEdge, FlowNode } from "#components/canvas/flow-mapping.ts";
import { CARD_WIDTH } from "#components/canvas/graph-edits.ts";
import { definitionOf } from "#server/engine/graph.ts";

const GUESSED_HEIGHT = 120;
const round = (value: number) => Math.round(value / 10) * 10;

/**
 * Positions (top left corners, by node id) that set the graph out from left to right. Notes stay where they are: people put
 * them beside what they are about, and the flow keeps its top left corner so that they still fit.
 */
export function tidyPositions(nodes: readonly FlowNode[], edges: readonly FlowEdge[]): Map<string, { x: number; y: number }> {
  const active = nodes.filter((node) => !definitionOf(node.type ?? "")?.isInert);
  const graph = new DagreGraph();
  graph.setGraph({ rankdir: "LR", nodesep: 48, ranksep: 80, edgesep: 24 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of active)
    graph.setNode(node.id, { width: node.measured?.width ?? CARD_WIDTH, height: node.measured?.height ?? GUESSED_HEIGHT });
  for (const edge of edges) if (graph.hasNode(edge.source) && graph.hasNode(edge.target)) graph.setEdge(edge.source, edge.target);
  layout(graph);
  const corners = active.map((node) => {
    const { x, y, width, height } = graph.node(node.id) as { x: number; y: number; width: number; height: number };
    return { id: node.id, x: x - width / 2, y: y - height / 2 };
  });
  const left = Math.min(...corners.map(({ x }) => x)) - Math.min(...active.map((node) => node.position.x));
  const top = Math.min(...corners.map(({ y }) => y)) - Math.min(...active.map((node) => node.position.y));
  return new Map(corners.map(({ id, x, y }) => [id, { x: round(x - left), y: round(y - top) }]));
}
