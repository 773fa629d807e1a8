import type { PrismaClient } from "#prisma/generated/client.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { isUuid } from "#server/services/ids.ts";
import { agentIdsOf } from "#server/services/workflows/graph-scope.ts";

/** Keeps which agents a workflow names, so that deleting one in use can be refused. */
export async function recordAgentUses(workflow_id: string, graphs: Graph[], within: Pick<PrismaClient, "workflowAgentUse">): Promise<void> {
  const agent_ids = [...new Set(graphs.flatMap(agentIdsOf))].filter(isUuid);
  await within.workflowAgentUse.deleteMany({ where: { workflow_id, agent_id: { notIn: agent_ids } } });
  await within.workflowAgentUse.createMany({ data: agent_ids.map((agent_id) => ({ workflow_id, agent_id })), skipDuplicates: true });
}
