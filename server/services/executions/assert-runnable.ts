import { findProblems } from "#server/engine/problems.ts";
import { AppError } from "#server/errors.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { graphScope } from "#server/services/workflows/graph-scope.ts";

/**
 * Makes sure that nothing in the graph would stop a run.
 * @throws AppError VALIDATION_ERROR with every problem, each with the node and field that it is in
 */
export async function assertRunnable(project_id: string, graph: Graph): Promise<void> {
  const problems = findProblems(graph, await graphScope(project_id, graph));
  if (!problems.length) return;
  const errors = problems.map(({ node_id, field, message }) => ({
    path: [node_id ?? "workflow", field].filter(Boolean).join("."),
    message,
  }));
  throw new AppError("VALIDATION_ERROR", `The workflow cannot run yet: ${problems[0]?.message}`, { errors });
}
