import { outputNodes, reachedOutputs } from "#server/runs/executor/ending.ts";
import { type Execution, ExecutionOutput, type ExecutionSummary, type ExecutionTrigger } from "#server/runs/schema.ts";
import type { DetailRow, SummaryRow } from "#server/runs/store/executions.ts";
import { nodeResults, outputsOf } from "#server/runs/store/node-results.ts";
import { withTexts } from "#server/runs/store/texts.ts";

import { deciderDto, verdictOf } from "#server/runs/waits/review.ts";
import { MAX_RESULT, PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";
import type { Graph } from "#server/workflow/schema.ts";

const iso = (time: Date | null) => time?.toISOString() ?? null;

/** Sums of which nothing is known are told as unknown, and never as 0. Runs older than prices have none. */
function costOfRun({ cost, cost_is_partial, input_tokens, output_tokens }: SummaryRow): Pick<Execution, "cost" | "cost_is_partial"> {
  const known = cost?.toNumber() ?? 0;
  const isPartial = cost_is_partial || (cost === null && input_tokens + output_tokens > 0);
  return { cost: known === 0 && isPartial ? null : known, cost_is_partial: isPartial };
}

function commonFields(row: SummaryRow) {
  const { id, workflow_id, status, error, started_by, input_tokens, output_tokens } = row;
  return {
    id,
    workflow_id,
    workflow_name: row.workflow.name,
    version: row.workflow_version,
    status,
    trigger: row.trigger as ExecutionTrigger,
    error,
    started_by,
    parent: row.parent_id === null ? null : { execution_id: row.parent_id, node_id: row.parent_node_id ?? "" },
    rerun_of: row.rerun_of_id,
    input_tokens,
    output_tokens,
    ...costOfRun(row),
    created_at: row.created_at.toISOString(),
    started_at: iso(row.started_at),
    completed_at: iso(row.completed_at),
    duration_ms: row.completed_at && row.completed_at.getTime() - row.created_at.getTime(),
  };
}

/** An execution as lists show it. */
export const summaryDto = (row: SummaryRow): ExecutionSummary => ({
  ...commonFields(row),
  input: row.input_preview,
  output: row.output_preview,
  truncated: [row.input_preview, row.output_preview].some((text) => (text?.length ?? 0) >= PREVIEW_CHARACTERS),
});

async function wholeOutputs({ id, values }: DetailRow): Promise<ExecutionOutput[]> {
  const outputs = values?.outputs ?? [];
  return ExecutionOutput.array().parse(Array.isArray(outputs) ? await withTexts(id, outputs) : outputs);
}

/**
 * The Output nodes that a run has reached by now, or had reached when it was cancelled: such a run has written no end that says
 * them. None when they are together more than a run may end with.
 */
async function outputsSoFar(execution_id: string, graph: Graph): Promise<ExecutionOutput[]> {
  const nodes = outputNodes(graph);
  if (nodes.length === 0) return [];
  const rows = await outputsOf(execution_id, nodes, MAX_RESULT);
  const [outside, inside] = [rows.filter((row) => row.iteration === ""), rows.filter((row) => row.iteration !== "")];
  return reachedOutputs(
    graph,
    new Map(outside.map((row) => [row.node_id, row.output ?? ""])),
    Map.groupBy(
      inside.map((row) => ({ node_id: row.node_id, path: row.iteration, value: row.output ?? "" })),
      (row) => row.node_id,
    ),
  );
}

/** An execution with everything that it holds. */
export async function executionDto(row: DetailRow, graph: Graph): Promise<Execution> {
  const kept = await wholeOutputs(row);
  const hasToldAll = kept.length > 0 || row.status === "completed" || row.status === "rejected";
  return {
    ...commonFields(row),
    input: row.values?.input ?? "",
    output: row.values?.output ?? null,
    outputs: hasToldAll ? kept : await outputsSoFar(row.id, graph),
    reviews: row.waits.map((review) => {
      const { status, choice, comment } = verdictOf(review);
      return {
        node_id: review.node_id,
        iteration: review.iteration,
        label: review.label,
        decision: status === "approved" || status === "rejected" ? status : null,
        choice,
        comment,
        ...deciderDto(review),
      };
    }),
    node_results: await nodeResults(row, graph),
  };
}
