import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page, PageInput } from "#server/schemas/primitives.ts";
import type { WorkflowSummary } from "#server/schemas/workflow.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { summaryDto, summaryFields } from "#server/services/workflows/workflow-dto.ts";

/** The project's workflows, newest first. */
export async function listWorkflows({ project }: ProjectPrincipal, input: PageInput): Promise<Page<WorkflowSummary>> {
  const where = { project_id: project.id, deleted_at: null };
  const found = await Promise.all([
    db().workflow.count({ where }),
    db().workflow.findMany({ where, select: summaryFields, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, found, summaryDto);
}
