import type { NodeStatus } from "#server/schemas/execution.ts";
import type { Graph, GraphEdge } from "#server/schemas/graph.ts";

// Which nodes may start, decided only from the graph and what has happened so far. Pure: the same ledger always gives
// the same answer, in whatever order results came in.

/** How far one node is. A failed node whose `continues` is set counts as finished for what follows it. */
export interface NodeProgress {
  status: NodeStatus;
  /** The handle that is live, of a node with several. */
  handle?: string | undefined;
  continues?: boolean | undefined;
}

/** The part of a graph that runs, with its edges looked up once. */
export interface Plan {
  nodeIds: readonly string[];
  incoming: ReadonlyMap<string, readonly GraphEdge[]>;
  /** Ids of nodes that start without anything before them: the trigger. */
  roots: ReadonlySet<string>;
}

export interface NextSteps {
  /** Nodes to start now, in graph order. */
  ready: string[];
  /** Nodes that no live path can reach any more. */
  skipped: string[];
  /** True when nothing runs, nothing is ready and nothing waits. */
  isDone: boolean;
}

/** @param isInert tells nodes that take no part, such as notes */
export function makePlan(graph: Graph, isRoot: (type: string) => boolean, isInert: (type: string) => boolean): Plan {
  const active = graph.nodes.filter((node) => !isInert(node.type));
  const ids = new Set(active.map((node) => node.id));
  const edges = graph.edges.filter((edge) => ids.has(edge.source) && ids.has(edge.target));
  return {
    nodeIds: active.map((node) => node.id),
    incoming: Map.groupBy(edges, (edge) => edge.target),
    roots: new Set(active.filter((node) => isRoot(node.type)).map((node) => node.id)),
  };
}

type EdgeState = "open" | "live" | "dead";

/** Whether an edge carries a result: open while its source has not ended. */
export function edgeState(edge: GraphEdge, source: NodeProgress | undefined): EdgeState {
  switch (source?.status) {
    case "complete":
      return source.handle === undefined || source.handle === (edge.sourceHandle ?? "") ? "live" : "dead";
    case "failed":
      return source.continues ? "live" : "dead";
    case "skipped":
      return "dead";
    default:
      return "open";
  }
}

/** What a node's incoming edges say: wait for more, run, or never. A join waits for every path (contract, section 4). */
function verdict(id: string, plan: Plan, progress: ReadonlyMap<string, NodeProgress>): "wait" | "run" | "skip" {
  if (plan.roots.has(id)) return "run";
  const states = (plan.incoming.get(id) ?? []).map((edge) => edgeState(edge, progress.get(edge.source)));
  if (states.includes("open")) return "wait";
  return states.includes("live") ? "run" : "skip";
}

/**
 * What to do next.
 * @param progress every node that has started or ended; nodes that are missing have not
 */
export function nextSteps(plan: Plan, progress: ReadonlyMap<string, NodeProgress>): NextSteps {
  const seen = new Map(progress);
  const skipped: string[] = [];
  // Skips cascade: each round can only decide nodes after those of the round before, so this ends.
  for (let changed = true; changed; ) {
    changed = false;
    for (const id of plan.nodeIds) {
      if (seen.has(id) || verdict(id, plan, seen) !== "skip") continue;
      seen.set(id, { status: "skipped" });
      skipped.push(id);
      changed = true;
    }
  }
  const ready = plan.nodeIds.filter((id) => !seen.has(id) && verdict(id, plan, seen) === "run");
  const isBusy = [...progress.values()].some(({ status }) => status === "running" || status === "waiting");
  return { ready, skipped, isDone: ready.length === 0 && !isBusy };
}
