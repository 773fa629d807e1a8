import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import {
  CreateWorkflowInput,
  SaveDraftInput,
  SetScheduleInput,
  UpdateWorkflowInput,
  Workflow,
  WorkflowDraft,
  WorkflowEditorState,
  WorkflowHead,
  WorkflowPage,
  WorkflowRef,
} from "#server/features/workflows/schema.ts";
import {
  createWorkflow,
  deleteWorkflow,
  getWorkflow,
  getWorkflowHead,
  listWorkflows,
  updateWorkflow,
} from "#server/features/workflows/service.ts";
import { setSchedule } from "#server/features/workflows/set-schedule.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ExecuteInput, ExecuteResult, ExecutionSummary, RunDraftInput, WorkflowExecutionsInput } from "#server/runs/schema.ts";
import { listWorkflowExecutions } from "#server/runs/use-cases/list-executions.ts";
import { NoContent, PageInput } from "#server/shared/primitives-schema.ts";

const tag = "Workflows";

export const workflowsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/workflows", { tag, summary: "List the workflows" }))
    .input(PageInput)
    .output(WorkflowPage)
    .query(({ ctx, input }) => listWorkflows(ctx.principal, input)),
  create: editorProcedure
    .meta(
      endpoint("POST", "/workflows", {
        tag,
        summary: "Create a workflow",
        description: "Without nodes it starts with one manual trigger.",
        status: 201,
      }),
    )
    .input(CreateWorkflowInput)
    .output(Workflow)
    .mutation(({ ctx, input }) => createWorkflow(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/workflows/{workflow_id}", { tag, summary: "Read a workflow with its graph" }))
    .input(WorkflowRef)
    .output(Workflow)
    .query(({ ctx, input }) => getWorkflow(ctx.principal, input)),
  update: editorProcedure
    .meta(
      endpoint("PUT", "/workflows/{workflow_id}", {
        tag,
        summary: "Save a workflow",
        description:
          "Makes the next version, which is what the web app calls publishing. Fields left out keep their value. An old `version` is refused with 409.",
      }),
    )
    .input(UpdateWorkflowInput)
    .output(Workflow)
    .mutation(({ ctx, input }) => updateWorkflow(ctx.principal, input)),
  delete: editorProcedure
    .meta(endpoint("DELETE", "/workflows/{workflow_id}", { tag, summary: "Delete a workflow", status: 204 }))
    .input(WorkflowRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteWorkflow(ctx.principal, input)),
  execute: editorProcedure
    .meta(
      endpoint("POST", "/workflows/{workflow_id}/execute", {
        tag,
        summary: "Run a workflow",
        description: "Starts the saved version and answers at once; poll or stream the execution.",
        status: 202,
        runs: true,
      }),
    )
    .input(ExecuteInput)
    .output(ExecuteResult)
    .mutation(({ ctx, input }) => executeWorkflow(ctx.principal, input)),
  setSchedule: editorProcedure
    .meta(
      endpoint("PUT", "/workflows/{workflow_id}/schedule", {
        tag,
        summary: "Switch a workflow's schedule on or off",
        description:
          "May change its times too. Writes into the schedule trigger and counts the version up; 422 for another kind of trigger.",
      }),
    )
    .input(SetScheduleInput)
    .output(Workflow)
    .mutation(({ ctx, input }) => setSchedule(ctx.principal, input)),
  executions: viewerProcedure
    .meta(
      endpoint("GET", "/workflows/{workflow_id}/executions", {
        tag,
        summary: "The latest executions of a workflow",
        description: "A bare array, newest first.",
      }),
    )
    .input(WorkflowExecutionsInput)
    .output(ExecutionSummary.array())
    .query(({ ctx, input }) => listWorkflowExecutions(ctx.principal, input)),
  // The web UI's editor: the draft, and a run of it.
  editor: viewerProcedure
    .input(WorkflowRef)
    .output(WorkflowEditorState)
    .query(({ ctx, input }) => getEditorState(ctx.principal, input)),
  head: viewerProcedure
    .input(WorkflowRef)
    .output(WorkflowHead)
    .query(({ ctx, input }) => getWorkflowHead(ctx.principal, input)),
  saveDraft: editorProcedure
    .input(SaveDraftInput)
    .output(WorkflowDraft)
    .mutation(({ ctx, input }) => saveDraft(ctx.principal, input)),
  executeDraft: editorProcedure
    .input(RunDraftInput)
    .output(ExecuteResult)
    .mutation(({ ctx, input }) => runDraft(ctx.principal, input)),
});
