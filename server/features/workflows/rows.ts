import type { Prisma, PrismaClient } from "#prisma/generated/client.ts";
import { renamedSince } from "#server/features/workflows/agent-names.ts";
import { graphScope, problemsOf, triggerFaults } from "#server/features/workflows/checks.ts";
import { scheduleView } from "#server/features/workflows/schedule.ts";
import type { Workflow, WorkflowDraft, WorkflowSummary } from "#server/features/workflows/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { MAX_LISTED } from "#server/workflow/listing.ts";
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
  const { problems, total } = await problemsOf(project_id, graph, await graphScope(project_id, graph));
  return {
    ...summaryDto(row),
    nodes: graph.nodes,
    edges: graph.edges,
    schedule: scheduleView(graph, row.enabled),
    problems,
    problems_total: total,
  };
}

type DraftRow = Prisma.WorkflowDraftGetPayload<{ include: { updated_by: { select: { name: true } } } }>;

/** Returns the problems of a draft, and with them what a save would refuse in its trigger. */
export async function draftProblems(project_id: string, graph: Graph): Promise<Pick<WorkflowDraft, "problems" | "problems_total">> {
  const { problems, total } = await problemsOf(project_id, graph, await graphScope(project_id, graph));
  const faults = triggerFaults(graph).flatMap(({ node_id, field, message }): Problem[] => {
    const at = field?.replace(/^data\./, "") ?? null;
    const isKnown = problems.some((problem) => problem.severity === "error" && problem.node_id === node_id && problem.field === at);
    return isKnown ? [] : [{ node_id, field: at, message, severity: "error" }];
  });
  return { problems: [...faults, ...problems].slice(0, MAX_LISTED), problems_total: total + faults.length };
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
    renamed_since: renamedSince(row),
    ...(await draftProblems(project_id, graph)),
  };
}
