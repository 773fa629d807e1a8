import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { Graph } from "#server/schemas/graph.ts";
import type { Workflow } from "#server/schemas/workflow.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";
import { summaryFields, workflowDto } from "#server/services/workflows/workflow-dto.ts";

/**
 * A workflow with the graph of its current version and its problems.
 * @throws AppError NOT_FOUND
 */
export async function getWorkflow(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<Workflow> {
  const { snapshot_id, ...row } = await findWorkflow(principal, workflow_id, { ...summaryFields, snapshot_id: true });
  const { graph } = await db().workflowSnapshot.findUniqueOrThrow({ where: { id: snapshot_id }, select: { graph: true } });
  return workflowDto(principal.project.id, row, Graph.parse(graph));
}
