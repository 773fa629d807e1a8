import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { WorkflowEditorState } from "#server/schemas/workflow.ts";
import { getWorkflow } from "#server/services/workflows/get-workflow.ts";
import { graphHash } from "#server/services/workflows/snapshot-of.ts";
import { draftDto } from "#server/services/workflows/workflow-dto.ts";

/**
 * What the editor opens: the saved workflow, and the draft on top of it.
 * @throws AppError NOT_FOUND
 */
export async function getEditorState(principal: ProjectPrincipal, input: { workflow_id: string }): Promise<WorkflowEditorState> {
  const workflow = await getWorkflow(principal, input);
  const row = await db().workflowDraft.findUniqueOrThrow({
    where: { workflow_id: workflow.id },
    include: { updated_by: { select: { name: true } } },
  });
  const draft = await draftDto(principal.project.id, row);
  return { workflow, draft, is_draft_ahead: graphHash(draft) !== graphHash(workflow) };
}
