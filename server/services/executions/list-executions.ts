import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { ExecutionSummary, ListExecutionsInput } from "#server/schemas/execution.ts";
import type { Page } from "#server/schemas/primitives.ts";
import { summaryDto, summaryFields } from "#server/services/executions/execution-dto.ts";
import { isUuid } from "#server/services/ids.ts";
import { paged, pageWindow } from "#server/services/paging.ts";

/** The project's executions, newest first. A workflow that does not exist has none. */
export async function listExecutions({ project }: ProjectPrincipal, input: ListExecutionsInput): Promise<Page<ExecutionSummary>> {
  const { workflow_id, status } = input;
  if (workflow_id && !isUuid(workflow_id)) return paged(input, [0, []], summaryDto);
  const where = { project_id: project.id, ...(workflow_id && { workflow_id }), ...(status && { status }) };
  const found = await Promise.all([
    db().execution.count({ where }),
    db().execution.findMany({ where, select: summaryFields, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, found, summaryDto);
}
