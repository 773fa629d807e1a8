import type { Prisma } from "#prisma/generated/client.ts";
import { countDiff, diffGraphs } from "#server/engine/graph-diff.ts";
import type { Graph } from "#server/schemas/graph.ts";
import { VersionChanges, type WorkflowVersionSummary } from "#server/schemas/workflow-version.ts";

/** What a list of versions reads: no graph. */
export const versionFields = {
  version: true,
  name: true,
  created_at: true,
  changes: true,
  saved_by: { select: { id: true, name: true } },
} as const satisfies Prisma.WorkflowVersionSelect;

type VersionRow = Prisma.WorkflowVersionGetPayload<{ select: typeof versionFields }>;

/** @param current number of the workflow's current version */
export const versionDto = (row: VersionRow, current: number): WorkflowVersionSummary => ({
  version: row.version,
  name: row.name,
  is_current: row.version === current,
  saved_by: row.saved_by,
  created_at: row.created_at.toISOString(),
  changes: row.changes === null ? null : VersionChanges.parse(row.changes),
});

/** What a save changed, counted while both graphs are at hand, so that lists need neither. */
export const versionChanges = (before: Graph, after: Graph): VersionChanges => countDiff(diffGraphs(before, after));
