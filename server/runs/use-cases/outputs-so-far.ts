import { pool } from "#server/platform/db/client.ts";
import { outputNodes, reachedOutputs } from "#server/runs/executor/ending.ts";
import type { ExecutionOutput } from "#server/runs/schema.ts";
import { BODY_OUTPUTS, BODY_OUTPUTS_BYTES } from "#server/runs/store/statements.ts";
import { MAX_RESULT } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

/**
 * The Output nodes that a run has reached by now, or had reached when it was cancelled: such a run has written no end that says
 * them. None when they are together more than a run may end with.
 */
export async function outputsSoFar(execution_id: string, graph: Graph): Promise<ExecutionOutput[]> {
  const nodes = outputNodes(graph);
  if (nodes.length === 0) return [];
  const values = [execution_id, nodes];
  const { rows: sizes } = await pool().query<{ kept: number }>({ name: "outputs-so-far-bytes", text: BODY_OUTPUTS_BYTES, values });
  const kept = sizes[0]?.kept ?? 0;
  if (kept > MAX_RESULT) return [];
  const { rows } = await pool().query<{ node_id: string; iteration: string; output: string | null }>({
    name: "outputs-so-far",
    text: BODY_OUTPUTS,
    values,
  });
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
