import { lockAgentNames, namesAtRevision, withCurrentNames } from "#server/features/workflows/agent-names.ts";
import { settledGraph } from "#server/features/workflows/checks.ts";
import { draftDto, findWorkflow } from "#server/features/workflows/rows.ts";
import type { SaveDraftInput, WorkflowDraft, WorkflowEditorState } from "#server/features/workflows/schema.ts";
import { getWorkflow } from "#server/features/workflows/service.ts";
import { graphHash, recordAgentUses } from "#server/features/workflows/snapshots.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { jsonColumn } from "#server/platform/db/json-column.ts";
import { AppError, invalidField } from "#server/platform/errors.ts";
import { Graph } from "#server/workflow/schema.ts";

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
  return { workflow, draft, is_draft_ahead: (await graphHash(draft)) !== (await graphHash(workflow)) };
}

/**
 * The editor's autosave. A draft may hold what a save would refuse: its problems come back with it, and nothing is lost.
 * Applies renames of agents to the graph when nothing else was written since `revision`, and returns the resulting graph.
 * @throws AppError NOT_FOUND; CONFLICT, naming who, when the draft has been written since `revision`; VALIDATION_ERROR
 *   for an empty graph, which no editor means
 */
export async function saveDraft(
  principal: ProjectPrincipal,
  { workflow_id, nodes, edges, revision }: SaveDraftInput,
): Promise<WorkflowDraft> {
  if (nodes.length === 0) throw invalidField("nodes", "is empty", "An empty graph is not written over a draft. Keep at least the trigger.");
  const project_id = principal.project.id;
  const sent = settledGraph({ nodes, edges });
  const row = await db().$transaction(async (tx) => {
    await lockAgentNames(tx, project_id);
    const { snapshot_id } = await findWorkflow(principal, workflow_id, { snapshot_id: true }, tx);
    const before = await tx.workflowDraft.findUniqueOrThrow({ where: { workflow_id }, select: { revision: true, renames: true } });
    const then = namesAtRevision(before, revision);
    const { graph } = await withCurrentNames(tx, project_id, sent, then);
    const { count } = await tx.workflowDraft.updateMany({
      where: { workflow_id, revision: then ? before.revision : revision },
      data: { graph: jsonColumn(graph), revision: { increment: 1 }, updated_by_id: principal.user.id },
    });
    const draft = await tx.workflowDraft.findUniqueOrThrow({ where: { workflow_id }, include: { updated_by: { select: { name: true } } } });
    if (count === 0) {
      const who = `${draft.updated_by?.name ?? "Someone"} changed this draft at ${draft.updated_at.toISOString()}`;
      throw new AppError("CONFLICT", `${who}; it is at revision ${draft.revision} and you edited ${revision}.`);
    }
    const saved = Graph.parse((await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: snapshot_id }, select: { graph: true } })).graph);
    // A draft that equals the saved version holds nothing of the assistant any more.
    if (draft.by !== null && (await graphHash(graph)) === (await graphHash(saved)))
      await tx.workflowDraft.update({ where: { workflow_id }, data: { by: null } });
    await recordAgentUses(workflow_id, [graph, saved], tx);
    return draft;
  });
  return draftDto(project_id, row);
}
