import type { NodeScope } from "#server/engine/define-node.ts";
import { AppError } from "#server/errors.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { AgentNames } from "#server/services/agents/agent-names.ts";
import { agentIdsOf, graphScope } from "#server/services/workflows/graph-scope.ts";
import { problemsOf } from "#server/services/workflows/problems-of.ts";

/** What the agents of a graph and the credentials of its project were called when nothing in it would have stopped a run. */
const sound = new WeakMap<Graph, string>();

/**
 * Makes sure that nothing in the graph would stop a run.
 * @param agents names of agents that the caller has found
 * @returns what it has looked up, such as the names of the agents
 * @throws AppError VALIDATION_ERROR with every problem, each with the node and field that it is in
 */
export async function assertRunnable(project_id: string, graph: Graph, agents: AgentNames = null): Promise<NodeScope> {
  const scope = await graphScope(project_id, graph, agents);
  // Of its project a graph asks the names of its agents and of credentials alone: with the same ones the answer is the same.
  const names = JSON.stringify([agentIdsOf(graph).map((id) => scope.agentName(id) ?? null), scope.credentialNames ?? []]);
  if (sound.get(graph) === names) return scope;
  const problems = await problemsOf(project_id, graph, scope);
  if (!problems.length) {
    sound.set(graph, names);
    return scope;
  }
  const errors = problems.map(({ node_id, field, message }) => ({
    path: [node_id ?? "workflow", field].filter(Boolean).join("."),
    message,
  }));
  throw new AppError("VALIDATION_ERROR", `The workflow cannot run yet: ${problems[0]?.message}`, { errors });
}
