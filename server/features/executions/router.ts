import { getBulk, startBulk, stopBulk } from "#server/features/executions/bulk.ts";
import { compareExecutions } from "#server/features/executions/compare.ts";
import { forkExecution } from "#server/features/executions/fork-execution.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import {
  BulkAction,
  BulkInput,
  BulkRef,
  BulkResult,
  CompareInput,
  Comparison,
  ForkInput,
  ForkResult,
  MOST_COMPARED,
  RunView,
  RunViewRef,
  SaveViewInput,
} from "#server/features/executions/schema.ts";
import { deleteView, listViews, saveView } from "#server/features/executions/views.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { ApproveInput } from "#server/features/reviews/schema.ts";
import { approverProcedure, editorProcedure, endpoint, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import {
  Execution,
  ExecutionLogs,
  ExecutionLogsInput,
  ExecutionPage,
  ExecutionRef,
  ExecutionView,
  ListExecutionsInput,
  LoopItems,
  LoopItemsInput,
  LoopTimes,
  LoopTimesInput,
  NodeOutput,
  NodeOutputInput,
  RerunInput,
  RerunResult,
} from "#server/runs/schema.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution, getExecutionView } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { getLoopItems } from "#server/runs/use-cases/get-loop-items.ts";
import { getLoopTimes } from "#server/runs/use-cases/get-loop-times.ts";
import { getNodeOutput } from "#server/runs/use-cases/get-node-output.ts";
import { listExecutions } from "#server/runs/use-cases/list-executions.ts";
import { NoContent, Nothing } from "#server/shared/primitives-schema.ts";

const tag = "Executions";

export const executionsRouter = router({
  list: viewerProcedure
    .meta(
      endpoint("GET", "/executions", {
        tag,
        summary: "List the executions",
        description:
          "Newest first; filter by workflow, status, trigger and time, and search in input, output and error. A key without the scope `read` lists and reads only executions that it started.",
        isOpenToRun: true,
      }),
    )
    .input(ListExecutionsInput)
    .output(ExecutionPage)
    .query(({ ctx, input }) => listExecutions(ctx.principal, input)),
  get: viewerProcedure
    .meta(
      endpoint("GET", "/executions/{execution_id}", {
        tag,
        summary: "Read an execution",
        description: "With the result of every node.",
        isOpenToRun: true,
      }),
    )
    .input(ExecutionRef)
    .meta({ isLarge: true })
    .output(Execution)
    .query(({ ctx, input }) => getExecution(ctx.principal, input, ctx.texts)),
  logs: viewerProcedure
    .meta(
      endpoint("GET", "/executions/{execution_id}/logs", {
        tag,
        summary: "Read the full logs",
        description:
          "Input and output of every attempt of every node; filter by node and by iteration of a loop. Of a log with more than 64 MiB of them only the beginnings of long texts come, with truncated beside them; one that is too large even so is refused with 422.",
        isOpenToRun: true,
      }),
    )
    .input(ExecutionLogsInput)
    .meta({ isLarge: true })
    .output(ExecutionLogs)
    .query(({ ctx, input }) => getExecutionLogs(ctx.principal, input, ctx.texts)),
  cancel: editorProcedure
    .meta(
      endpoint("POST", "/executions/{execution_id}/cancel", {
        tag,
        summary: "Cancel an execution",
        description:
          "409 when it has ended already. A key without the scope `read` cancels, reruns and forks only executions that it started; all others are 404.",
        runs: true,
      }),
    )
    .input(ExecutionRef)
    .meta({ isLarge: true })
    .output(Execution)
    .mutation(({ ctx, input }) => cancelExecution(ctx.principal, input, ctx.texts)),
  bulk: editorProcedure
    .meta(
      endpoint("POST", "/executions/bulk", {
        tag,
        summary: "Cancel, rerun or delete many executions",
        description:
          "Those named by `ids`, or all that match `filter`. Which ones is settled when it is asked for; it is done in the background, and a restart of the service loses nothing and repeats nothing. Reruns count against the project's hour, and wait when that is used up. A key without the scope `read` reaches only executions that it started. A key that deletes needs the scope `write` as well.",
        status: 202,
        runs: true,
      }),
    )
    .input(BulkInput)
    .output(BulkResult)
    .mutation(({ ctx, input }) => startBulk(ctx.principal, input)),
  getBulk: viewerProcedure
    .meta(
      endpoint("GET", "/bulk-actions/{bulk_id}", {
        tag,
        summary: "Read how far it is with many executions",
        description: "For 30 days after it was done.",
      }),
    )
    .input(BulkRef)
    .output(BulkAction)
    .query(({ ctx, input }) => getBulk(ctx.principal, input)),
  stopBulk: editorProcedure
    .meta(
      endpoint("POST", "/bulk-actions/{bulk_id}/stop", {
        tag,
        summary: "Stop what is done with many executions",
        description:
          "What was done stays done; `count` less `done` were not begun. One that is over stays as it is. A key needs the scope `read` as well.",
        runs: true,
      }),
    )
    .input(BulkRef)
    .output(BulkAction)
    .mutation(({ ctx, input }) => stopBulk(ctx.principal, input)),
  approve: approverProcedure
    .meta(
      endpoint("POST", "/executions/{execution_id}/approve", {
        tag,
        summary: "Approve or reject a review",
        description:
          "node_id may be left out when one review waits. 409 when it was decided already, with who and when. A key needs the scope `read` as well.",
        runs: true,
      }),
    )
    .input(ApproveInput)
    .meta({ isLarge: true })
    .output(Execution)
    .mutation(({ ctx, input }) => approveExecution(ctx.principal, input, ctx.texts)),
  rerun: editorProcedure
    .meta(
      endpoint("POST", "/executions/{execution_id}/rerun", {
        tag,
        summary: "Run an execution again",
        description:
          "From `from_node_id` on, when given: it and what depends on it run, and finished results of everything else are reused and marked `reused` in node_results. With other `input` or `params` than the original's and no `from_node_id`, it starts at the first node that reads the trigger, directly or over a connection; results that do not depend on the trigger are reused. With `from_node_id`, a reused result that depends on the original's values is refused with 422 unless `reuse_stale` is true. 409 while the original has not ended.",
        status: 202,
        runs: true,
      }),
    )
    .input(RerunInput)
    .output(RerunResult)
    .mutation(({ ctx, input }) => rerunExecution(ctx.principal, input)),
  fork: editorProcedure
    .meta(
      endpoint("POST", "/executions/{execution_id}/fork", {
        tag,
        summary: "Fork an execution",
        description:
          "Runs its graph again with other nodes, edges or values, without touching the workflow. Results of what comes before the first change are taken over and marked `reused`: what they did outside is not done again. With nothing changed and no `from_node_id` everything runs. Other values count as a change of the trigger, as in a rerun. Outputs that are pinned in `nodes` count only when the original was a run of a draft. A key that sends `nodes` or `edges` needs the scope `write` as well. 409 while the original has not ended.",
        status: 202,
        runs: true,
      }),
    )
    .input(ForkInput)
    .output(ForkResult)
    .mutation(({ ctx, input }) => forkExecution(ctx.principal, input)),
  compare: viewerProcedure
    .meta(
      endpoint("GET", "/executions/{execution_id}/compare/{other_id}", {
        tag,
        summary: "Compare two executions",
        description: `Node by node: how each ended, what came out (up to ${MOST_COMPARED} characters), what it took and cost, and what was not the same in the graphs.`,
      }),
    )
    .input(CompareInput)
    .meta({ isLarge: true })
    .output(Comparison)
    .query(({ ctx, input }) => compareExecutions(ctx.principal, input)),
  // The runs page: filters that a person has named.
  views: viewerProcedure
    .input(Nothing)
    .output(RunView.array())
    .query(({ ctx }) => listViews(ctx.principal)),
  saveView: viewerProcedure
    .input(SaveViewInput)
    .output(RunView)
    .mutation(({ ctx, input }) => saveView(ctx.principal, input)),
  deleteView: viewerProcedure
    .input(RunViewRef)
    .output(NoContent)
    .mutation(({ ctx, input }) => deleteView(ctx.principal, input)),
  nodeOutput: viewerProcedure
    .meta(
      endpoint("GET", "/executions/{execution_id}/nodes/{node_id}/output", {
        tag,
        summary: "Read one node's whole output",
        description: "However large: elsewhere an output of more than 256 Ki characters is shown by its beginning.",
        isOpenToRun: true,
      }),
    )
    .input(NodeOutputInput)
    .output(NodeOutput)
    .query(({ ctx, input }) => getNodeOutput(ctx.principal, input, ctx.texts)),
  // The run page and the editor: how the items of a loop stand, and the run with the graph it runs.
  loopItems: viewerProcedure
    .input(LoopItemsInput)
    .output(LoopItems)
    .query(({ ctx, input }) => getLoopItems(ctx.principal, input)),
  loopTimes: viewerProcedure
    .input(LoopTimesInput)
    .output(LoopTimes)
    .query(({ ctx, input }) => getLoopTimes(ctx.principal, input)),
  view: viewerProcedure
    .input(ExecutionRef)
    .meta({ isLarge: true })
    .output(ExecutionView)
    .query(({ ctx, input }) => getExecutionView(ctx.principal, input, ctx.texts)),
});
