import { z } from "zod";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { maySteerRuns } from "#server/platform/auth/rights.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import type { Execution, ExecutionView } from "#server/runs/schema.ts";
import { firstPiece } from "#server/runs/store/events.ts";
import {
  type DetailRow,
  detailFields,
  findExecution,
  type RunScope,
  readParams,
  readRunValues,
  workflowOfExecution,
} from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { itemSums, lastItems } from "#server/runs/store/node-results.ts";
import { executionDto } from "#server/runs/use-cases/execution-dto.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import { Id } from "#server/shared/primitives-schema.ts";
import { definitionOf, labelOf } from "#server/workflow/graph.ts";
import type { Graph } from "#server/workflow/schema.ts";

async function find(scope: RunScope, execution_id: string) {
  const row = await findExecution({ ...scope, execution_id }, detailFields);
  return { row, graph: await snapshotGraph(row.snapshot_id) };
}

/** Returns the execution as the caller may see it: without the URLs that end waits or lead to the Inngest server where `maySteerRuns` says no. */
async function visibleTo(principal: ProjectPrincipal, row: DetailRow, graph: Graph, texts?: DeferredTexts): Promise<Execution> {
  const execution = await executionDto(row, graph, texts);
  if (maySteerRuns(principal)) return execution;
  const results = Object.entries(execution.node_results).map(([id, { resume_url: _, ...result }]) => [id, result]);
  return { ...execution, inngest_run_url: null, node_results: Object.fromEntries(results) };
}

/**
 * One execution with the result of every node.
 * @param texts takes the long texts out
 * @throws AppError NOT_FOUND
 */
export async function getExecution(
  principal: ProjectPrincipal,
  { execution_id }: { execution_id: string },
  texts?: DeferredTexts,
): Promise<Execution> {
  const { row, graph } = await find(runScopeOf(principal), execution_id);
  return visibleTo(principal, row, graph, texts);
}

/** What an error workflow was told, as far as it leads back to the run that failed. */
const Failure = z.preprocess(
  (text) => {
    try {
      return JSON.parse(String(text));
    } catch {
      return null;
    }
  },
  z.object({ execution_id: Id, failed_node: z.object({ id: z.string(), label: z.string() }).nullable() }),
);

/** The node in another run that has started this one; null for every other run, and when that one has been deleted. */
async function originOf(
  { project }: ProjectPrincipal,
  { id, parent_id, parent_node_id, trigger }: DetailRow,
): Promise<ExecutionView["origin"]> {
  const failure = trigger === "error" ? Failure.safeParse((await readRunValues(id)).input).data : undefined;
  const execution_id = parent_id ?? failure?.execution_id;
  if (execution_id === undefined) return null;
  const row = await workflowOfExecution(project.id, execution_id);
  if (!row) return null;
  const from = parent_node_id === null ? undefined : (await snapshotGraph(row.snapshot_id)).nodes.find(({ id }) => id === parent_node_id);
  const node = from ? { id: from.id, label: labelOf(from) } : (failure?.failed_node ?? null);
  return { execution_id, workflow_name: row.workflow.name, node };
}

/** Returns what a webhook or an HTTP trigger keeps of a call besides the input. The values of a form are its input. */
async function callParams(execution_id: string, graph: Graph): Promise<ExecutionView["params"]> {
  const trigger = graph.nodes.find(({ type }) => definitionOf(type)?.group === "trigger");
  if (trigger?.data.kind !== "webhook" && trigger?.data.kind !== "http") return {};
  const params = await readParams(execution_id);
  return params && typeof params === "object" && !Array.isArray(params) ? params : {};
}

/**
 * An execution with the graph that it runs, and the number after which a viewer follows the stream. The row is read before
 * what hangs on it, so events that came in between are told again rather than missed; pieces of nodes that still run are
 * told from their first.
 * @param texts takes the long texts out
 * @throws AppError NOT_FOUND
 */
export async function getExecutionView(
  principal: ProjectPrincipal,
  { execution_id }: { execution_id: string },
  texts?: DeferredTexts,
): Promise<ExecutionView> {
  const { row, graph } = await find(runScopeOf(principal), execution_id);
  const piece = await firstPiece(execution_id);
  const last_event_id = Math.min(row.last_seq, (piece ?? row.last_seq + 1) - 1);
  const upTo = isFinal(row.status) ? null : last_event_id;
  const [execution, sums, origin, params] = await Promise.all([
    visibleTo(principal, row, graph, texts),
    itemSums(execution_id, graph, upTo),
    originOf(principal, row),
    callParams(execution_id, graph),
  ]);
  // A node whose latest item went another way is shown as it was at the last one that came there.
  const passed = Object.keys(sums).filter((id) => {
    const result = execution.node_results[id];
    return result?.status === "skipped" && result.started_at === null;
  });
  const last = await lastItems(execution_id, passed, upTo);
  const item_sums = Object.fromEntries(Object.entries(sums).map(([id, sum]) => [id, last[id] ? { ...sum, last: last[id] } : sum]));
  return { execution, graph, origin, last_event_id, item_sums, params };
}
