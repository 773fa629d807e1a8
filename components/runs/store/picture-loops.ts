import { planOf } from "#components/runs/store/iterations.ts";
import type { NodePicture, RunPicture } from "#components/runs/store/run-picture.ts";
import type { ExecutionEvent } from "#server/runs/event-schema.ts";
import type { ItemSums } from "#server/runs/schema.ts";
import { dictionary } from "#server/shared/json-text.ts";
import type { Graph } from "#server/workflow/schema.ts";

// What a run's picture (run-picture.ts) tells of loops: what lies in them, and what their items took together.

/** Ids of the nodes in each loop, those of the loops within it too. */
export function bodiesOf(graph: Graph | undefined): Record<string, string[]> {
  const bodies = dictionary<string[]>();
  const plan = graph && planOf(graph);
  for (const { id } of graph?.nodes ?? []) for (const loop of plan?.loopsAround(id) ?? []) bodies[loop] = [...(bodies[loop] ?? []), id];
  return bodies;
}

/** What lies in a loop that is skipped is skipped with it, and left out with it. */
export function withBodySkipped(nodes: RunPicture["nodes"], bodies: RunPicture["bodies"], loopId: string): RunPicture["nodes"] {
  const loop = nodes[loopId];
  if (loop?.status !== "skipped") return nodes;
  const { status, reused } = loop;
  const idle = (bodies[loopId] ?? []).filter((id) => nodes[id]?.status === "idle");
  const skipped = dictionary<NodePicture>();
  for (const id of idle) if (nodes[id]) skipped[id] = { ...nodes[id], status, reused };
  return idle.length ? dictionary(nodes, skipped) : nodes;
}

/** The sums with one more item; what a try that failed used is told by the API alone. */
export function itemsAfter(items: ItemSums | undefined, event: ExecutionEvent): ItemSums | undefined {
  if ((event.type !== "node_complete" && event.type !== "node_failed") || !event.iteration) return items;
  const { count, duration_ms, input_tokens, output_tokens } = items ?? { count: 0, duration_ms: 0, input_tokens: 0, output_tokens: 0 };
  const used = event.type === "node_complete" ? event : { input_tokens: 0, output_tokens: 0 };
  return {
    count: count + 1,
    duration_ms: duration_ms + event.duration_ms,
    input_tokens: input_tokens + used.input_tokens,
    output_tokens: output_tokens + used.output_tokens,
  };
}

/** Tokens and time of a node as it is shown; of one inside loops, those of all its items together. */
export function usedBy(run: NodePicture): { tokens: number; duration_ms: number | null; count: number } {
  // A loop that lies in another has a state of its own, and no tokens.
  const items = run.iterations ? undefined : run.items;
  const { input_tokens, output_tokens } = items ?? run;
  const duration_ms = run.duration_ms === null ? null : (items?.duration_ms ?? run.duration_ms);
  return { tokens: input_tokens + output_tokens, duration_ms, count: items?.count ?? 0 };
}
