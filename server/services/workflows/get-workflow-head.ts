import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { notFound } from "#server/errors.ts";
import type { WorkflowHead } from "#server/schemas/workflow.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";

const fields = { version: true, draft: { select: { revision: true, updated_by: { select: { name: true } } } } } as const;

/**
 * How far a workflow and its draft have come, without any graph.
 * @throws AppError NOT_FOUND
 */
export async function getWorkflowHead(principal: ProjectPrincipal, { workflow_id }: { workflow_id: string }): Promise<WorkflowHead> {
  const { version, draft } = await findWorkflow(principal, workflow_id, fields);
  if (!draft) throw notFound("workflow");
  return { version, revision: draft.revision, updated_by: draft.updated_by?.name ?? null };
}
