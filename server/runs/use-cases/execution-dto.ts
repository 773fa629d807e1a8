import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { isEmbeddedExecutor, settings } from "#server/platform/settings.ts";
import { outputNodes, reachedOutputs } from "#server/runs/executor/ending.ts";
import { type Execution, ExecutionOutput, type ExecutionSummary, type ExecutionTrigger } from "#server/runs/schema.ts";
import { type DetailRow, readRunValues, type SummaryRow } from "#server/runs/store/executions.ts";
import { nodeResults, outputsOf } from "#server/runs/store/node-results.ts";
import { deciderDto, verdictOf, voteDto } from "#server/runs/waits/review.ts";
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

/**
 * The Output nodes that a run has reached by now, or had reached when it was cancelled: such a run has written no end that says
 * them. None when they are together more than a run may end with.
 */
async function outputsSoFar(execution_id: string, graph: Graph, texts: DeferredTexts | undefined): Promise<ExecutionOutput[]> {
  const nodes = outputNodes(graph);
  if (nodes.length === 0) return [];
  const rows = await outputsOf(execution_id, nodes, MAX_RESULT, texts);
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

/** Returns `running` for a paused run whose reviews have all been decided: the executor changes the stored status when it resumes. */
const currentStatus = ({ status, waits }: DetailRow): Execution["status"] =>
  status === "paused" && waits.length > 0 && waits.every((wait) => wait.status !== "waiting") ? "running" : status;

/** Default address of a dev server. */
const DEV_SERVER = "http://localhost:8288";

/** Address of the page of a function run at the Inngest server; null without one. Source: github.com/inngest/inngest, ui/apps/dev-server-ui, /run. */
function inngestRunUrl({ inngest_run_id }: DetailRow): string | null {
  if (inngest_run_id === null || isEmbeddedExecutor()) return null;
  const { INNGEST_RUN_URL, INNGEST_BASE_URL = DEV_SERVER } = settings();
  const page = INNGEST_RUN_URL ?? `${INNGEST_BASE_URL.replace(/\/$/, "")}/run?runID={id}`;
  return page.replaceAll("{id}", encodeURIComponent(inngest_run_id));
}

/** An execution with everything that it holds. @param texts takes the long texts out */
export async function executionDto(row: DetailRow, graph: Graph, texts?: DeferredTexts): Promise<Execution> {
  const { input, output, outputs } = await readRunValues(row.id, texts);
  const kept = ExecutionOutput.array().parse(outputs);
  const hasToldAll = kept.length > 0 || row.status === "completed" || row.status === "rejected";
  return {
    ...commonFields(row),
    status: currentStatus(row),
    input,
    output,
    outputs: hasToldAll ? kept : await outputsSoFar(row.id, graph, texts),
    reviews: row.waits.map((review) => {
      const { status, choice, comment } = verdictOf(review);
      return {
        node_id: review.node_id,
        iteration: review.iteration || null,
        label: review.label,
        status,
        decision: status === "approved" || status === "rejected" ? status : null,
        choice,
        comment,
        ...deciderDto(review),
        votes: review.votes.map(voteDto),
      };
    }),
    inngest_run_url: inngestRunUrl(row),
    node_results: await nodeResults(row, graph, texts),
  };
}
