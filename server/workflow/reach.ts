import { workOf } from "#server/workflow/disabled.ts";
import { labelOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

/**
 * Labels of the nodes through which a run of the graph would reach beyond this service and the vendors of its models: sends
 * something, or asks a service that answers to somebody else. Switched-off nodes do not count, nor pinned ones where pins do.
 * @param graph as it is played (`withPins`, where pins count)
 * @param hasReach whether an agent's tools or knowledge do
 */
export const nodesReachingOut = (graph: Graph, hasReach: (agent_id: string) => boolean): string[] =>
  graph.nodes.flatMap((node) => {
    const definition = workOf(node);
    const config = definition?.config.safeParse(node.data);
    return config?.success && definition?.reachesOut?.(config.data, hasReach) ? [labelOf(node)] : [];
  });
