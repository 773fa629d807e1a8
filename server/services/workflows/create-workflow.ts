import { v7 as uuid } from "uuid";
import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Graph } from "#server/schemas/graph.ts";
import type { CreateWorkflowInput, Workflow } from "#server/schemas/workflow.ts";
import { recordAudit } from "#server/services/audit/record-audit.ts";
import { assertRoom } from "#server/services/projects/assert-room.ts";
import { registerSchedule } from "#server/services/schedules/register-schedule.ts";
import { recordAgentUses } from "#server/services/workflows/agent-uses.ts";
import { checkedGraph, firstGraph, triggerKind } from "#server/services/workflows/checked-graph.ts";
import { graphHash, noteGraph } from "#server/services/workflows/snapshot-of.ts";
import { summaryFields, workflowDto } from "#server/services/workflows/workflow-dto.ts";

/**
 * Writes a workflow as version 1, with a draft that equals it, and the audit entry for it.
 * @param graph checked already (services/workflows/checked-graph.ts)
 */
export async function insertWorkflow(
  tx: Prisma.TransactionClient,
  principal: ProjectPrincipal,
  { name, description = "", enabled = true }: Pick<CreateWorkflowInput, "name" | "description" | "enabled">,
  graph: Graph,
) {
  const id = uuid();
  const snapshot_id = uuid();
  const by = principal.user.id;
  const json = graph as unknown as Prisma.InputJsonObject;
  const created = await tx.workflow.create({
    data: {
      id,
      project_id: principal.project.id,
      name,
      description,
      enabled,
      snapshot_id,
      trigger: triggerKind(graph),
      snapshots: { create: { id: snapshot_id, hash: graphHash(graph), graph: json } },
      draft: { create: { graph: json, base_version: 1, updated_by_id: by } },
    },
    select: summaryFields,
  });
  await registerSchedule(created, graph, tx);
  await tx.workflowVersion.create({ data: { workflow_id: id, version: 1, snapshot_id, saved_by_id: by } });
  await recordAgentUses(id, [graph], tx);
  await recordAudit(principal, { action: "workflow.create", resource_type: "workflow", resource_id: id, resource_name: name }, tx);
  noteGraph(principal.project.id, graph, 2);
  return created;
}

/**
 * Creates a workflow as version 1, with a draft that equals it.
 * @throws AppError VALIDATION_ERROR with every structural fault of the graph, or a schedule that cannot be kept; CONFLICT when the project
 *   holds as much as it may
 */
export async function createWorkflow(principal: ProjectPrincipal, input: CreateWorkflowInput): Promise<Workflow> {
  const first = firstGraph();
  const graph = checkedGraph({ nodes: input.nodes ?? first.nodes, edges: input.edges ?? [] });
  await assertRoom(principal.project.id);
  const row = await db().$transaction((tx) => insertWorkflow(tx, principal, input, graph));
  return workflowDto(principal.project.id, row, graph);
}
