import type { Prisma } from "#prisma/generated/client.ts";
import { storedNames, withCurrentNames } from "#server/features/workflows/agent-names.ts";
import { findWorkflow } from "#server/features/workflows/rows.ts";
import {
  type ListVersionsInput,
  type NameVersionInput,
  VersionChanges,
  WorkflowVersion,
  type WorkflowVersionRef,
  type WorkflowVersionSummary,
} from "#server/features/workflows/schema.ts";
import { recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError } from "#server/platform/errors.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import type { Page } from "#server/shared/primitives-schema.ts";
import { countDiff, diffGraphs } from "#server/workflow/diff.ts";
import { Graph } from "#server/workflow/schema.ts";

/** What a list of versions reads: no graph. */
export const versionFields = {
  version: true,
  name: true,
  note: true,
  created_at: true,
  changes: true,
  by: true,
  saved_by: { select: { id: true, name: true } },
} as const satisfies Prisma.WorkflowVersionSelect;

type VersionRow = Prisma.WorkflowVersionGetPayload<{ select: typeof versionFields }>;

/** @param current number of the workflow's current version */
export const versionDto = (row: VersionRow, current: number): WorkflowVersionSummary => ({
  version: row.version,
  name: row.name,
  note: row.note,
  is_current: row.version === current,
  saved_by: row.saved_by,
  by: WorkflowVersion.shape.by.catch(null).parse(row.by),
  created_at: row.created_at.toISOString(),
  changes: row.changes === null ? null : VersionChanges.parse(row.changes),
});

/** What a save changed, counted while both graphs are at hand, so that lists need neither. */
export const versionChanges = (before: Graph, after: Graph): VersionChanges => countDiff(diffGraphs(before, after));

/**
 * The saved versions of a workflow, newest first.
 * @throws AppError NOT_FOUND
 */
export async function listVersions(principal: ProjectPrincipal, input: ListVersionsInput): Promise<Page<WorkflowVersionSummary>> {
  const { id: workflow_id, version } = await findWorkflow(principal, input.workflow_id, { id: true, version: true });
  const where = { workflow_id };
  const page = await Promise.all([
    db().workflowVersion.count({ where }),
    db().workflowVersion.findMany({ where, select: versionFields, orderBy: { version: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, page, (row) => versionDto(row, version));
}

export const noSuchVersion = (version: number) =>
  new AppError("NOT_FOUND", `This workflow has no version ${version}. GET /workflows/{workflow_id}/versions lists those that it has.`);

/**
 * One saved version of a workflow, with its graph. Agents renamed since are read by their current names, so that it can be saved again.
 * @throws AppError NOT_FOUND for the workflow or the version
 */
export async function getVersion(principal: ProjectPrincipal, { workflow_id, version }: WorkflowVersionRef): Promise<WorkflowVersion> {
  const workflow = await findWorkflow(principal, workflow_id, { id: true, version: true });
  const row = await db().workflowVersion.findUnique({
    where: { workflow_id_version: { workflow_id: workflow.id, version } },
    select: { ...versionFields, snapshot: { select: { graph: true, agent_names: true } } },
  });
  if (!row) throw noSuchVersion(version);
  const then = storedNames(row.snapshot.agent_names);
  const { nodes, edges } = (await withCurrentNames(db(), principal.project.id, Graph.parse(row.snapshot.graph), then)).graph;
  return { ...versionDto(row, workflow.version), nodes, edges };
}

/**
 * Gives a saved version a name, or takes it away. What it runs stays as it is.
 * @throws AppError NOT_FOUND for the workflow or the version
 */
export async function nameVersion(
  principal: ProjectPrincipal,
  { workflow_id, version, name }: NameVersionInput,
): Promise<WorkflowVersionSummary> {
  return db().$transaction(async (tx) => {
    const workflow = await findWorkflow(principal, workflow_id, { name: true, version: true }, tx);
    const { count } = await tx.workflowVersion.updateMany({ where: { workflow_id, version }, data: { name: name || null } });
    if (count === 0) throw noSuchVersion(version);
    const row = await tx.workflowVersion.findUniqueOrThrow({
      where: { workflow_id_version: { workflow_id, version } },
      select: versionFields,
    });
    await recordAudit(tx, principal, {
      action: "workflow.name_version",
      resource_type: "workflow",
      resource_id: workflow_id,
      resource_name: workflow.name,
      detail: { version, name: row.name },
    });
    return versionDto(row, workflow.version);
  });
}
