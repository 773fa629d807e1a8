import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { type ExecutionLogs, type ExecutionLogsInput, type NodeLog, RunToolCall } from "#server/runs/schema.ts";
import { logTexts } from "#server/runs/use-cases/log-texts.ts";
import { deciderDto, deciderFields } from "#server/runs/waits/review.ts";
import { labelOf } from "#server/workflow/graph.ts";
import { Graph } from "#server/workflow/schema.ts";

/**
 * Input and output of every attempt of every node, in the order in which they started; of one node, or of one iteration of
 * a loop, when the input says so. Of a large log the beginnings of texts.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR when even those are too much for one answer
 */
export async function getExecutionLogs({ project }: ProjectPrincipal, input: ExecutionLogsInput): Promise<ExecutionLogs> {
  const { execution_id, node_id, iteration } = input;
  if (!isUuid(execution_id)) throw notFound("execution");
  const row = await db().execution.findFirst({
    where: { id: execution_id, project_id: project.id },
    select: { snapshot: { select: { graph: true } } },
  });
  if (!row) throw notFound("execution");
  // First, since it refuses what is too much to be read.
  const texts = await logTexts(input);
  const where = { execution_id, ...(node_id !== undefined && { node_id }), ...(iteration !== undefined && { iteration }) };
  const [runs, reviews] = await Promise.all([
    db().nodeRun.findMany({ where, orderBy: [{ started_at: { sort: "asc", nulls: "last" } }, { id: "asc" }] }),
    db().wait.findMany({ where: { ...where, reason: "review" }, select: { node_id: true, iteration: true, ...deciderFields } }),
  ]);
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
      output: text?.output ?? null,
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
      tool_calls: RunToolCall.array().parse(text?.tool_calls ?? []),
      ...(review && deciderDto(review)),
    };
  });
  return { execution_id, items };
}
