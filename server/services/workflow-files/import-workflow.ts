import type { ProjectPrincipal } from "#server/auth/principal.ts";
import type { Workflow } from "#server/schemas/workflow.ts";
import type { ImportWorkflowInput } from "#server/schemas/workflow-file.ts";
import { assertRoom } from "#server/services/projects/assert-room.ts";
import { linkFile } from "#server/services/workflow-files/link-file.ts";
import { triggerKind } from "#server/services/workflows/checked-graph.ts";
import { insertWorkflow } from "#server/services/workflows/create-workflow.ts";
import { workflowDto } from "#server/services/workflows/workflow-dto.ts";

/**
 * Makes a workflow of a file, with the agents that are to be made for it: all of it or nothing. What is left open is kept
 * in the nodes' data and told as problems of the workflow. A workflow with a schedule is off unless `enabled` says otherwise.
 * @throws AppError as linkFile does; CONFLICT when the project holds as much as it may
 */
export async function importWorkflow(principal: ProjectPrincipal, input: ImportWorkflowInput): Promise<Workflow> {
  await assertRoom(principal.project.id);
  const { row, graph } = await linkFile(principal, input, async (made, file, tx) => {
    const enabled = input.enabled ?? triggerKind(file) !== "schedule";
    const { name = file.name } = input;
    return { graph: made, row: await insertWorkflow(tx, principal, { name, description: file.description, enabled }, made) };
  });
  return workflowDto(principal.project.id, row, graph);
}
