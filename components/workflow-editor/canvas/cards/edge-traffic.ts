import { cardStatus, type RunPicture } from "#components/runs/store/run-picture.ts";
import { handleLeftBy } from "#server/workflow/pins.ts";
import type { Graph } from "#server/workflow/schema.ts";

/** How a run went along an edge. `none`: it tells nothing of it. */
export type Traffic = "none" | "queued" | "running" | "taken" | "failed" | "skipped";

interface Way {
  source: string;
  target: string;
  sourceHandle?: string | null | undefined;
}

const types = new WeakMap<Graph, ReadonlyMap<string, string>>();

/** Types of a graph's nodes by id, found out once for each graph. */
function typesOf(graph: Graph): ReadonlyMap<string, string> {
  // One that is switched off leaves behind what it was given, which tells nothing of its ways.
  const known = types.get(graph) ?? new Map(graph.nodes.map((node) => [node.id, node.data.disabled === true ? "" : node.type]));
  types.set(graph, known);
  return known;
}

const waysIn = new WeakMap<Graph, ReadonlyMap<string, number>>();

/** How many edges lead to each node of a graph, counted once for each graph. */
function waysInOf(graph: Graph): ReadonlyMap<string, number> {
  const known = waysIn.get(graph) ?? new Map([...Map.groupBy(graph.edges, (edge) => edge.target)].map(([id, edges]) => [id, edges.length]));
  waysIn.set(graph, known);
  return known;
}

/**
 * How a run went along an edge, told by what its source left behind: of a branch or a review that has ended, only the way
 * that it went by was taken, whatever became of the nodes at the others. In a loop, whose items go different ways, the only
 * way to a node was taken when some item came to it.
 * @param graph the one that runs
 */
export function trafficOf(picture: RunPicture | null, graph: Graph | null, { source, target, sourceHandle }: Way): Traffic {
  const node = picture?.nodes[source];
  if (!picture || !node || !picture.nodes[target]) return "none";
  const [from, to] = [cardStatus(picture, source), cardStatus(picture, target)];
  if (from === "skipped" || to === "skipped") return "skipped";
  const isReached = graph !== null && picture.nodes[target].iteration !== "" && to !== "queued" && waysInOf(graph).get(target) === 1;
  if (from === "complete" && graph && !isReached) {
    const left = handleLeftBy(typesOf(graph).get(source) ?? "", node.output);
    if (left !== null && sourceHandle && left !== sourceHandle) return "skipped";
  }
  if (to === "running") return "running";
  if (to === "failed") return "failed";
  // What came along waits there for the others.
  if (to === "complete" || to === "waiting" || (to === "queued" && from === "complete")) return "taken";
  return to === "queued" ? "queued" : "none";
}
