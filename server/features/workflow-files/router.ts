import { exportWorkflow } from "#server/features/workflow-files/export.ts";
import { checkImport, importGraph, importWorkflow } from "#server/features/workflow-files/import.ts";
import { listTemplates } from "#server/features/workflow-files/list-templates.ts";
import {
  CheckImportInput,
  ExportWorkflowInput,
  ImportCheck,
  ImportedWorkflow,
  ImportGraphInput,
  ImportWorkflowInput,
  WorkflowFile,
  WorkflowTemplates,
} from "#server/features/workflow-files/schema.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { Nothing } from "#server/shared/primitives-schema.ts";
import { Graph } from "#server/workflow/schema.ts";

const tag = "Workflows";

export const workflowFilesRouter = router({
  export: viewerProcedure
    .meta(
      endpoint("GET", "/workflows/{workflow_id}/export", {
        tag,
        summary: "Export a workflow as one file",
        description:
          "Its graph, the workflows that its nodes run and the agents that are asked, as definitions. No secret and no id of this installation is in it; POST /workflows/import takes it.",
      }),
    )
    .input(ExportWorkflowInput)
    .meta({ isLarge: true })
    .output(WorkflowFile)
    .query(({ ctx, input }) => exportWorkflow(ctx.principal, input)),
  check: editorProcedure
    .meta(
      endpoint("POST", "/workflows/import/check", {
        tag,
        summary: "Check a file before an import",
        description:
          "The check list: which agents, servers, sources, workflows and credentials the file names, and which of them are here.",
        isIdempotent: false,
      }),
    )
    .input(CheckImportInput)
    .output(ImportCheck)
    .mutation(({ ctx, input }) => checkImport(ctx.principal, input)),
  import: editorProcedure
    .meta(
      endpoint("POST", "/workflows/import", {
        tag,
        summary: "Import a workflow from a file",
        description:
          "Makes the workflow, the agents that `links` say to create and the workflows that its nodes run and are not here, all or nothing. What is left open is kept in the nodes and listed as `problems`. A workflow of n8n is carried over as far as it goes: nodes that are not known here become notes with their JSON, and `import_report` says what is to be done.",
        status: 201,
      }),
    )
    .input(ImportWorkflowInput)
    .meta({ isLarge: true })
    .output(ImportedWorkflow)
    .mutation(({ ctx, input }) => importWorkflow(ctx.principal, input)),
  /** For the editor: the nodes of a file, to be put into the workflow that is open. */
  importGraph: editorProcedure
    .input(ImportGraphInput)
    .meta({ isLarge: true })
    .output(Graph)
    .mutation(({ ctx, input }) => importGraph(ctx.principal, input)),
  templates: viewerProcedure
    .meta(
      endpoint("GET", "/workflow-templates", {
        tag,
        summary: "The templates of the gallery",
        description: "Each with its file, ready for POST /workflows/import.",
      }),
    )
    .input(Nothing)
    .output(WorkflowTemplates)
    .query(() => listTemplates()),
});
