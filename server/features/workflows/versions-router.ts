import {
  ListVersionsInput,
  NameVersionInput,
  WorkflowVersion,
  WorkflowVersionPage,
  WorkflowVersionRef,
  WorkflowVersionSummary,
} from "#server/features/workflows/schema.ts";
import { getVersion, listVersions, nameVersion } from "#server/features/workflows/versions.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";

const tag = "Workflows";

export const workflowVersionsRouter = router({
  list: viewerProcedure
    .meta(
      endpoint("GET", "/workflows/{workflow_id}/versions", {
        tag,
        summary: "List a workflow's versions",
        description: "Every save, newest first: who made it, when, and how much it changed.",
      }),
    )
    .input(ListVersionsInput)
    .output(WorkflowVersionPage)
    .query(({ ctx, input }) => listVersions(ctx.principal, input)),
  get: viewerProcedure
    .meta(
      endpoint("GET", "/workflows/{workflow_id}/versions/{version}", {
        tag,
        summary: "Read a version with its graph",
        description: "To go back to it, send its `nodes` and `edges` with PUT /workflows/{workflow_id}: that makes the next version.",
      }),
    )
    .input(WorkflowVersionRef)
    .meta({ isLarge: true })
    .output(WorkflowVersion)
    .query(({ ctx, input }) => getVersion(ctx.principal, input)),
  name: editorProcedure
    .meta(
      endpoint("PUT", "/workflows/{workflow_id}/versions/{version}", {
        tag,
        summary: "Name a version",
        description: "Only the name can be changed, not the graph of the version.",
      }),
    )
    .input(NameVersionInput)
    .output(WorkflowVersionSummary)
    .mutation(({ ctx, input }) => nameVersion(ctx.principal, input)),
});
