import type { Prisma } from "#prisma/generated/client.ts";
import type { NodeScope } from "#server/engine/define-node.ts";
import { findProblems } from "#server/engine/problems.ts";
import { Graph } from "#server/schemas/graph.ts";
import type { Workflow, WorkflowDraft, WorkflowSummary } from "#server/schemas/workflow.ts";
import { graphScope } from "#server/services/workflows/graph-scope.ts";

/** What a list reads. */
export const summaryFields = {
  id: true,
  name: true,
  description: true,
  enabled: true,
  version: true,
  trigger: true,
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
  return { ...summaryDto(row), nodes: graph.nodes, edges: graph.edges, schedule: null, problems: findProblems(graph, scope) };
}

type DraftRow = Prisma.WorkflowDraftGetPayload<{ include: { updated_by: { select: { name: true } } } }>;

/** A draft as the editor gets it. */
export function draftDto(row: DraftRow, scope: NodeScope): WorkflowDraft {
  const graph = Graph.parse(row.graph);
  return {
    ...graph,
    revision: row.revision,
    base_version: row.base_version,
    updated_at: row.updated_at.toISOString(),
    updated_by: row.updated_by?.name ?? null,
    problems: findProblems(graph, scope),
  };
}
