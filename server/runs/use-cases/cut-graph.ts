import type { EarlierResults } from "#server/runs/store/earlier-results.ts";
import { runPlan } from "#server/workflow/disabled.ts";
import { pinOf } from "#server/workflow/pins.ts";
import type { Graph } from "#server/workflow/schema.ts";

/**
 * The part of a graph that takes part in a run, to look for what would stop it: without these top-level nodes and the bodies of loops
 * among them. What came before and after one that is left out still does: it may be read.
 */
export function cutGraph(graph: Graph, left_out: readonly string[]): Graph {
  if (left_out.length === 0) return graph;
  const out = new Set(left_out);
  const { loopsAround } = runPlan(graph);
  const nodes = graph.nodes.filter(({ id }) => !out.has(loopsAround(id)[0] ?? id));
  const kept = new Set(nodes.map((node) => node.id));
  let { edges } = graph;
  for (const id of out) {
    const onward = edges.filter((edge) => edge.source === id);
    const past = edges.filter((edge) => edge.target === id).flatMap((edge) => onward.map(({ target }) => ({ ...edge, target })));
    const rest = edges.filter((edge) => edge.source !== id && edge.target !== id);
    edges = [...new Map([...past, ...rest].map((edge) => [`${edge.source} ${edge.sourceHandle ?? ""} ${edge.target}`, edge])).values()];
  }
  return { ...graph, nodes, edges: edges.filter((edge) => kept.has(edge.source) && kept.has(edge.target)) };
}

/** What a run has from the beginning in which some pinned nodes are given, and other nodes take no part. */
export const givenResults = (
  { nodes }: Graph,
  given: readonly string[],
  left_out: readonly string[],
): NonNullable<EarlierResults["given"]> => [
  ...nodes.flatMap((node) => {
    const pin = given.includes(node.id) ? pinOf(node) : null;
    return pin ? [{ node_id: node.id, ...pin }] : [];
  }),
  ...left_out.map((node_id) => ({ node_id, output: null, handle: null })),
];
