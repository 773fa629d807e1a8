import type { Prisma, PrismaClient } from "#prisma/generated/client.ts";
import { graphScope, problemsOf, triggerFaults } from "#server/features/workflows/checks.ts";
import { scheduleView } from "#server/features/workflows/schedule.ts";
import type { Workflow, WorkflowDraft, WorkflowSummary } from "#server/features/workflows/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { Graph, type Problem } from "#server/workflow/schema.ts";

/**
 * The fields of one workflow of the caller's project.
 * @throws AppError NOT_FOUND, the same for an id of another project
 */
export async function findWorkflow<Fields extends Prisma.WorkflowSelect>(
  { project }: ProjectPrincipal,
  workflow_id: string,
  select: Fields,
  within: Pick<PrismaClient, "workflow"> = db(),
): Promise<Prisma.WorkflowGetPayload<{ select: Fields }>> {
  if (!isUuid(workflow_id)) throw notFound("workflow");
  const row = await within.workflow.findFirst({ where: { id: workflow_id, project_id: project.id, deleted_at: null }, select });
  if (!row) throw notFound("workflow");
  return row as Prisma.WorkflowGetPayload<{ select: Fields }>;
}

/** What a list reads. */
export const summaryFields = {
  id: true,
  name: true,
  description: true,
  enabled: true,
  version: true,
  trigger: true,
  error_workflow_id: true,
  tags: true,
  folder: true,
  created_at: true,
  updated_at: true,
} as const satisfies Prisma.WorkflowSelect;

type SummaryRow = Prisma.WorkflowGetPayload<{ select: typeof summaryFields }>;

export const summaryDto = (row: SummaryRow): WorkflowSummary => ({
  ...row,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
});

/** A workflow with its graph and what would stop a run of it. */
export async function workflowDto(project_id: string, row: SummaryRow, graph: Graph): Promise<Workflow> {
  const scope = await graphScope(project_id, graph);
  return {
    ...summaryDto(row),
    nodes: graph.nodes,
    edges: graph.edges,
    schedule: scheduleView(graph, row.enabled),
    problems: await problemsOf(project_id, graph, scope),
  };
}

type DraftRow = Prisma.WorkflowDraftGetPayload<{ include: { updated_by: { select: { name: true } } } }>;

/** What would stop a run of a draft, and what a save would refuse in its trigger. */
export async function draftProblems(project_id: string, graph: Graph): Promise<Problem[]> {
  const problems = await problemsOf(project_id, graph, await graphScope(project_id, graph));
  const faults = triggerFaults(graph).map(({ node_id, field, message }) => ({
    node_id,
    field: field?.replace(/^data\./, "") ?? null,
    message,
  }));
  const isTold = (fault: Problem) => problems.some(({ node_id, field }) => node_id === fault.node_id && field === fault.field);
  return [...problems, ...faults.filter((fault) => !isTold(fault))];
}

/** A draft as the editor gets it. */
export async function draftDto(project_id: string, row: DraftRow): Promise<WorkflowDraft> {
  const graph = Graph.parse(row.graph);
  return {
    ...graph,
    revision: row.revision,
    base_version: row.base_version,
    updated_at: row.updated_at.toISOString(),
    updated_by: row.updated_by?.name ?? null,
    problems: await draftProblems(project_id, graph),
  };
}
