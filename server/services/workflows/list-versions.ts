import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page } from "#server/schemas/primitives.ts";
import type { ListVersionsInput, WorkflowVersionSummary } from "#server/schemas/workflow-version.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";
import { versionDto, versionFields } from "#server/services/workflows/version-dto.ts";

/**
 * The saved versions of a workflow, newest first.
 * @throws AppError NOT_FOUND
 */
export async function listVersions(principal: ProjectPrincipal, input: ListVersionsInput): Promise<Page<WorkflowVersionSummary>> {
  const { id: workflow_id, version } = await findWorkflow(principal, input.workflow_id, { id: true, version: true });
  const where = { workflow_id };
  const page = await Promise.all([
    db().workflowVersion.count({ where }),
    db().workflowVersion.findMany({ where, select: versionFields, orderBy: { version: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, page, (row) => versionDto(row, version));
}
