import { outputNodes, reachedOutputs } from "#server/runs/executor/ending.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import { outputsOf } from "#server/runs/store/node-results.ts";
import { MAX_RESULT } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

/**
 * The Output nodes that a run has reached by now, or had reached when it was cancelled: such a run has written no end that says
 * them. None when they are together more than a run may end with.
 */
export async function outputsSoFar(execution_id: string, graph: Graph): Promise<ExecutionOutput[]> {
  const nodes = outputNodes(graph);
  if (nodes.length === 0) return [];
  const rows = await outputsOf(execution_id, nodes, MAX_RESULT);
  const [outside, inside] = [rows.filter((row) => row.iteration === ""), rows.filter((row) => row.iteration !== "")];
  return reachedOutputs(
    graph,
    new Map(outside.map((row) => [row.node_id, row.output ?? ""])),
    Map.groupBy(
      inside.map((row) => ({ node_id: row.node_id, path: row.iteration, value: row.output ?? "" })),
      (row) => row.node_id,
    ),
  );
}
