import { bulkWorkflows, moveFolder } from "#server/features/workflows/bulk.ts";
import { getEditorState, saveDraft } from "#server/features/workflows/draft.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import { listWorkflows, workflowFacets } from "#server/features/workflows/list.ts";
import { runDraft } from "#server/features/workflows/run-draft.ts";
import {
  BulkResult,
  BulkWorkflowsInput,
  CreateWorkflowInput,
  ListWorkflowsInput,
  MovedFolder,
  MoveFolderInput,
  SaveDraftInput,
  SetScheduleInput,
  UpdatedWorkflow,
  UpdateWorkflowInput,
  Workflow,
  WorkflowDraft,
  WorkflowEditorState,
  WorkflowFacets,
  WorkflowHead,
  WorkflowPage,
  WorkflowRef,
} from "#server/features/workflows/schema.ts";
import { createWorkflow, deleteWorkflow, getWorkflow, getWorkflowHead, updateWorkflow } from "#server/features/workflows/service.ts";
import { setSchedule } from "#server/features/workflows/set-schedule.ts";
import { editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { ExecuteInput, ExecuteResult, ExecutionSummary, RunDraftInput, WorkflowExecutionsInput } from "#server/runs/schema.ts";
import { listWorkflowExecutions } from "#server/runs/use-cases/list-executions.ts";
import { NoContent, Nothing } from "#server/shared/primitives-schema.ts";

const tag = "Workflows";

export const workflowsRouter = router({
  list: viewerProcedure
    .meta(endpoint("GET", "/workflows", { tag, summary: "List the workflows", description: "Each with its latest execution." }))
    .input(ListWorkflowsInput)
    .output(WorkflowPage)
    .query(({ ctx, input }) => listWorkflows(ctx.principal, input)),
  facets: viewerProcedure
    .meta(
      endpoint("GET", "/workflows/facets", {
        tag,
        summary: "List the folders and tags of workflows",
        description: "With how many workflows each has; at most 1,000 of each.",
      }),
    )
    .input(Nothing)
    .output(WorkflowFacets)
    .query(({ ctx }) => workflowFacets(ctx.principal)),
  bulk: editorProcedure
    .meta(
      endpoint("POST", "/workflows/bulk", {
        tag,
        summary: "Change many workflows",
        description:
          "Enables, disables, tags, moves or deletes at most 500, named by ids or by a filter, each by the rules of the operation for one. Answers when it is done, after a minute at most: with how many, and which it could not be done with and why.",
      }),
    )
    .input(BulkWorkflowsInput)
    .output(BulkResult)
    .mutation(({ ctx, input }) => bulkWorkflows(ctx.principal, input)),
  moveFolder: editorProcedure
    .meta(
      endpoint("POST", "/workflows/folders/move", {
        tag,
        summary: "Rename or move a folder of workflows",
        description: "With all that is in it. A folder is there as long as a workflow is in it.",
      }),
    )
    .input(MoveFolderInput)
    .output(MovedFolder)
    .mutation(({ ctx, input }) => moveFolder(ctx.principal, input)),
  create: editorProcedure
    .meta(
      endpoint("POST", "/workflows", {
        tag,
        summary: "Create a workflow",
        description:
          "Without nodes it starts with one manual trigger. A `schedule` that contradicts the trigger in `nodes` is refused with 422.",
        status: 201,
      }),
    )
    .input(CreateWorkflowInput)
    .meta({ isLarge: true })
    .output(Workflow)
    .mutation(({ ctx, input }) => createWorkflow(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/workflows/{workflow_id}", { tag, summary: "Read a workflow with its graph" }))
    .input(WorkflowRef)
    .meta({ isLarge: true })
    .output(Workflow)
    .query(({ ctx, input }) => getWorkflow(ctx.principal, input)),
  update: editorProcedure
    .meta(
      endpoint("PUT", "/workflows/{workflow_id}", {
        tag,
        summary: "Save a workflow",
        description:
          "Makes the next version, which is what the web app calls publishing; a request that changes nothing makes none. Fields left out keep their value. An old `version` is refused with 409. Widgets follow an Output node that gets another label and keeps its id; `canvases_changed` lists their canvases.",
      }),
    )
    .input(UpdateWorkflowInput)
    .meta({ isLarge: true })
    .output(UpdatedWorkflow)
    .mutation(({ ctx, input }) => updateWorkflow(ctx.principal, input)),
  delete: editorProcedure
    .meta(
      endpoint("DELETE", "/workflows/{workflow_id}", {
        tag,
        summary: "Delete a workflow",
        description: "Cancels its runs that have not ended. Its executions stay readable under its name. 409 while something uses it.",
        status: 204,
      }),
    )
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
    .meta({ isLarge: true })
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
    .meta({ isLarge: true })
    .output(WorkflowEditorState)
    .query(({ ctx, input }) => getEditorState(ctx.principal, input)),
  head: viewerProcedure
    .input(WorkflowRef)
    .output(WorkflowHead)
    .query(({ ctx, input }) => getWorkflowHead(ctx.principal, input)),
  saveDraft: editorProcedure
    .input(SaveDraftInput)
    .meta({ isLarge: true })
    .output(WorkflowDraft)
    .mutation(({ ctx, input }) => saveDraft(ctx.principal, input)),
  executeDraft: editorProcedure
    .input(RunDraftInput)
    .output(ExecuteResult)
    .mutation(({ ctx, input }) => runDraft(ctx.principal, input)),
});
