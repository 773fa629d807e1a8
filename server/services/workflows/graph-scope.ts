import type { NodeScope } from "#server/engine/define-node.ts";
import { credentialsIn } from "#server/engine/node-facts.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { type AgentNames, agentNames } from "#server/services/agents/agent-names.ts";
import { credentialNames } from "#server/services/credentials/credential-names.ts";

/** Ids of the agents that a graph names. */
export const agentIdsOf = (graph: Graph): string[] => [
  ...new Set(graph.nodes.map((node) => node.data.agent_id).filter((id): id is string => typeof id === "string" && id !== "")),
];

/**
 * What the checks of a graph may look up in its project.
 * @param agents names of agents that the caller has found
 */
export async function graphScope(project_id: string, graph: Graph, agents: AgentNames = null): Promise<NodeScope> {
  const readsCredentials = credentialsIn(graph).size > 0;
  const [names, credentials] = await Promise.all([
    agentNames(project_id, agentIdsOf(graph), agents),
    readsCredentials ? credentialNames(project_id) : undefined,
  ]);
  return { agentName: (id) => names.get(id), credentialNames: credentials };
}
