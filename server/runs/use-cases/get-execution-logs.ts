import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import type { ExecutionLogs, ExecutionLogsInput, NodeLog } from "#server/runs/schema.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { logTexts } from "#server/runs/store/log-texts.ts";
import { attemptsOf, outputOfAttempt } from "#server/runs/store/node-results.ts";
import { findReviews } from "#server/runs/store/reviews.ts";
import { RunToolCall } from "#server/runs/tool-call-schema.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";
import { deciderDto } from "#server/runs/waits/review.ts";
import { isStopped } from "#server/shared/execution-status.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { Graph } from "#server/workflow/schema.ts";

/**
 * Input and output of every attempt of every node, in the order in which they started; of one node, or of one iteration of
 * a loop, when the input says so. Of a large log the beginnings of texts.
 * @param deferred takes the long texts out
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when even those are too much for one answer
 */
export async function getExecutionLogs(
  principal: ProjectPrincipal,
  input: ExecutionLogsInput,
  deferred?: DeferredTexts,
): Promise<ExecutionLogs> {
  const { execution_id, node_id, iteration } = input;
  const row = await findExecution({ ...runScopeOf(principal), execution_id }, { snapshot: { select: { graph: true } } });
  // First, since it refuses what is too much to be read.
  const texts = await logTexts(input, deferred);
  const where = { execution_id, ...(node_id !== undefined && { node_id }), ...(iteration !== undefined && { iteration }) };
  const [runs, reviews] = await Promise.all([attemptsOf(where), findReviews(where, {})]);
  const reviewAt = new Map(reviews.map((review) => [`${review.node_id} ${review.iteration}`, review]));
  const nodes = new Map(Graph.parse(row.snapshot.graph).nodes.map((node) => [node.id, node]));
  const items = runs.map((run): NodeLog => {
    const node = nodes.get(run.node_id);
    const text = texts.get(run.id);
    const review = reviewAt.get(`${run.node_id} ${run.iteration}`);
    const { node_id, attempt, status, error, duration_ms, model, input_tokens, cached_tokens, output_tokens } = run;
    return {
      node_id,
      node_type: node?.type ?? "",
      label: node ? labelOf(node) : run.node_id,
      iteration: run.iteration || null,
      attempt,
      status,
      input: text?.input ?? null,
      output: outputOfAttempt(run.is_interrupted ? undefined : node, { status, error, output: text?.output ?? null }),
      ...(text?.truncated && { truncated: true }),
      error,
      started_at: run.started_at?.toISOString() ?? null,
      completed_at: run.completed_at?.toISOString() ?? null,
      duration_ms,
      model,
      input_tokens,
      cached_tokens,
      output_tokens,
      cost: model === null ? 0 : (run.cost?.toNumber() ?? null),
      ...(run.is_cut_off && { answer_truncated: true }),
      ...(isStopped(run) && { stopped: true }),
      ...(text?.printed != null && { printed: text.printed }),
      ...(text?.child_execution_id != null && { child_execution_id: text.child_execution_id }),
      ...(text?.agent_version != null && { agent_version: text.agent_version }),
      ...(text?.status != null && { response: { status: text.status, headers: text.headers ?? {} } }),
      ...(text?.attempts?.length && { attempts: text.attempts }),
      tool_calls: RunToolCall.array().parse(text?.tool_calls ?? []),
      ...(review && deciderDto(review)),
    };
  });
  return { execution_id, items };
}
