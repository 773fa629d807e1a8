import { editorProcedure, endpoint, router, viewerProcedure } from "#server/api/trpc.ts";
import { Execution, ExecutionLogs, ExecutionPage, ExecutionRef, ExecutionView, ListExecutionsInput } from "#server/schemas/execution.ts";
import { cancelExecution } from "#server/services/executions/cancel-execution.ts";
import { getExecution } from "#server/services/executions/get-execution.ts";
import { getExecutionLogs } from "#server/services/executions/get-execution-logs.ts";
import { getExecutionView } from "#server/services/executions/get-execution-view.ts";
import { listExecutions } from "#server/services/executions/list-executions.ts";

const tag = "Executions";

export const executionsRouter = router({
  list: viewerProcedure
    .meta(
      endpoint("GET", "/executions", { tag, summary: "List the executions", description: "Newest first; filter by workflow and status." }),
    )
    .input(ListExecutionsInput)
    .output(ExecutionPage)
    .query(({ ctx, input }) => listExecutions(ctx.principal, input)),
  get: viewerProcedure
    .meta(
      endpoint("GET", "/executions/{execution_id}", { tag, summary: "Read an execution", description: "With the result of every node." }),
    )
    .input(ExecutionRef)
    .output(Execution)
    .query(({ ctx, input }) => getExecution(ctx.principal, input)),
  logs: viewerProcedure
    .meta(
      endpoint("GET", "/executions/{execution_id}/logs", {
        tag,
        summary: "Read the full logs",
        description: "Input and output of every attempt of every node.",
      }),
    )
    .input(ExecutionRef)
    .output(ExecutionLogs)
    .query(({ ctx, input }) => getExecutionLogs(ctx.principal, input)),
  cancel: editorProcedure
    .meta(
      endpoint("POST", "/executions/{execution_id}/cancel", {
        tag,
        summary: "Cancel an execution",
        description: "409 when it has ended already.",
      }),
    )
    .input(ExecutionRef)
    .output(Execution)
    .mutation(({ ctx, input }) => cancelExecution(ctx.principal, input)),
  // The run page and the editor: the run with the graph it runs.
  view: viewerProcedure
    .input(ExecutionRef)
    .output(ExecutionView)
    .query(({ ctx, input }) => getExecutionView(ctx.principal, input)),
});
