import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError } from "#server/errors.ts";
import { Graph } from "#server/schemas/graph.ts";
import type { WorkflowVersion, WorkflowVersionRef } from "#server/schemas/workflow-version.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";
import { versionDto, versionFields } from "#server/services/workflows/version-dto.ts";

export const noSuchVersion = (version: number) =>
  new AppError("NOT_FOUND", `This workflow has no version ${version}. GET /workflows/{workflow_id}/versions lists those that it has.`);

/**
 * One saved version of a workflow, with its graph.
 * @throws AppError NOT_FOUND for the workflow or the version
 */
export async function getVersion(principal: ProjectPrincipal, { workflow_id, version }: WorkflowVersionRef): Promise<WorkflowVersion> {
  const workflow = await findWorkflow(principal, workflow_id, { id: true, version: true });
  const row = await db().workflowVersion.findUnique({
    where: { workflow_id_version: { workflow_id: workflow.id, version } },
    select: { ...versionFields, snapshot: { select: { graph: true } } },
  });
  if (!row) throw noSuchVersion(version);
  const { nodes, edges } = Graph.parse(row.snapshot.graph);
  return { ...versionDto(row, workflow.version), nodes, edges };
}
