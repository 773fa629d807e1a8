import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { AppError, notFound } from "#server/errors.ts";
import { Graph } from "#server/schemas/graph.ts";
import type { UpdateWorkflowInput, Workflow } from "#server/schemas/workflow.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { isUuid } from "#server/services/ids.ts";
import { assertRoom } from "#server/services/projects/assert-room.ts";
import { registerSchedule } from "#server/services/schedules/register-schedule.ts";
import { recordAgentUses } from "#server/services/workflows/agent-uses.ts";
import { checkedGraph, triggerKind } from "#server/services/workflows/checked-graph.ts";
import { findWorkflow } from "#server/services/workflows/find-workflow.ts";
import { snapshotOf } from "#server/services/workflows/snapshot-of.ts";
import { versionChanges } from "#server/services/workflows/version-dto.ts";
import { summaryFields, workflowDto } from "#server/services/workflows/workflow-dto.ts";

/** A change of the saved graph and, separately, of the draft; a draft that is ahead keeps what else it holds. */
type Edit = (graph: Graph, which: "saved" | "draft") => Graph;

/**
 * Saves a workflow: checks the graph, counts the version up, makes the draft equal to it, and registers its schedule.
 * @param edit instead of a whole graph in the input, a change of the one that is there
 * @throws AppError NOT_FOUND; VALIDATION_ERROR with every structural fault or a schedule that cannot be kept; CONFLICT, naming who saved, when `version` is
 *   older than the current one, and when the project has no room for another graph
 */
export async function updateWorkflow(principal: ProjectPrincipal, input: UpdateWorkflowInput, edit?: Edit): Promise<Workflow> {
  const { workflow_id } = input;
  const project_id = principal.project.id;
  const by = principal.user.id;
  if (!isUuid(workflow_id)) throw notFound("workflow");
  const hasGraph = input.nodes !== undefined || input.edges !== undefined;
  if (hasGraph || edit) await assertRoom(project_id);
  const saved = await db().$transaction(async (tx) => {
    // Not FOR UPDATE: an autosave that records an agent's use holds a key lock on this row.
    await tx.$queryRaw`SELECT 1 FROM workflows WHERE id = ${workflow_id}::uuid FOR NO KEY UPDATE`;
    const current = await findWorkflow(principal, workflow_id, { name: true, version: true, snapshot_id: true }, tx);
    if (input.version !== undefined && input.version !== current.version) {
      const last = await tx.workflowVersion.findFirst({
        where: { workflow_id, version: current.version },
        select: { created_at: true, saved_by_id: true },
      });
      const saver = last?.saved_by_id ? await tx.user.findUnique({ where: { id: last.saved_by_id }, select: { name: true } }) : null;
      const who = `${saver?.name ?? "Somebody"} saved version ${current.version}${last ? ` at ${last.created_at.toISOString()}` : ""}`;
      throw new AppError(
        "CONFLICT",
        `${who}, and you edited version ${input.version}. Load it and apply your changes to it, or save without a version to overwrite.`,
      );
    }
    const stored = Graph.parse((await tx.workflowSnapshot.findUniqueOrThrow({ where: { id: current.snapshot_id } })).graph);
    const given = edit ? edit(stored, "saved") : { nodes: input.nodes ?? stored.nodes, edges: input.edges ?? stored.edges };
    const graph = hasGraph || edit ? checkedGraph(given) : stored;
    const version = current.version + 1;
    const snapshot_id = hasGraph || edit ? await snapshotOf({ project_id, workflow_id }, graph, tx) : current.snapshot_id;
    const { name, description, enabled } = input;
    const row = await tx.workflow.update({
      where: { id: workflow_id },
      data: {
        version,
        snapshot_id,
        trigger: triggerKind(graph),
        ...(name !== undefined && { name }),
        ...(description !== undefined && { description }),
        ...(enabled !== undefined && { enabled }),
      },
      select: summaryFields,
    });
    await registerSchedule(row, graph, tx);
    const changes = { ...versionChanges(stored, graph) };
    await tx.workflowVersion.create({ data: { workflow_id, version, snapshot_id, saved_by_id: by, changes } });
    const graphs = [graph];
    if (hasGraph) {
      const draft = { graph: graph as unknown as Prisma.InputJsonObject, base_version: version, updated_by_id: by };
      await tx.workflowDraft.upsert({
        where: { workflow_id },
        create: { workflow_id, ...draft },
        update: { ...draft, revision: { increment: 1 } },
      });
    } else {
      const { graph: kept } = await tx.workflowDraft.findUniqueOrThrow({ where: { workflow_id }, select: { graph: true } });
      const before = Graph.parse(kept);
      const draft = edit ? edit(before, "draft") : before;
      const change = { graph: draft as unknown as Prisma.InputJsonObject, revision: { increment: 1 }, updated_by_id: by };
      await tx.workflowDraft.update({ where: { workflow_id }, data: { base_version: version, ...(draft !== before && change) } });
      graphs.push(draft);
    }
    await recordAgentUses(workflow_id, graphs, tx);
    await recordAudit(
      principal,
      { action: "workflow.update", resource_type: "workflow", resource_id: workflow_id, resource_name: row.name, detail: { version } },
      tx,
    );
    return { row, graph };
  });
  return workflowDto(project_id, saved.row, saved.graph);
}
