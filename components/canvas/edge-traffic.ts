import { cardStatus, type RunPicture } from "#components/runs/run-picture.ts";
import { handleLeftBy } from "#server/engine/pins.ts";
import type { Graph } from "#server/schemas/graph.ts";

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

/**
 * How a run went along an edge, told by what its source left behind: of a branch or a review that has ended, only the way
 * that it went by was taken, whatever became of the nodes at the others.
 * @param graph the one that runs
 */
export function trafficOf(picture: RunPicture | null, graph: Graph | null, { source, target, sourceHandle }: Way): Traffic {
  const node = picture?.nodes[source];
  if (!picture || !node || !picture.nodes[target]) return "none";
  const [from, to] = [cardStatus(picture, source), cardStatus(picture, target)];
  if (from === "skipped" || to === "skipped") return "skipped";
  if (from === "complete" && graph) {
    const left = handleLeftBy(typesOf(graph).get(source) ?? "", node.output);
    if (left !== null && sourceHandle && left !== sourceHandle) return "skipped";
  }
  if (to === "running") return "running";
  if (to === "failed") return "failed";
  // What came along waits there for the others.
  if (to === "complete" || to === "waiting" || (to === "queued" && from === "complete")) return "taken";
  return to === "queued" ? "queued" : "none";
}
