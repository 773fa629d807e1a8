import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { notFound } from "#server/platform/errors.ts";
import type { NodeOutput, NodeOutputInput } from "#server/runs/schema.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { findNodeOutput, outputOfAttempt } from "#server/runs/store/node-results.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";

/**
 * The whole output of one node's newest attempt, however large.
 * @param texts takes a long output out
 * @throws AppError NOT_FOUND
 */
export async function getNodeOutput(principal: ProjectPrincipal, input: NodeOutputInput, texts?: DeferredTexts): Promise<NodeOutput> {
  const { execution_id, node_id, iteration } = input;
  const { snapshot_id } = await findExecution({ ...runScopeOf(principal), execution_id }, { snapshot_id: true });
  const row = await findNodeOutput(principal.project.id, input, texts);
  if (!row) throw notFound("result of this node");
  const node = (await snapshotGraph(snapshot_id)).nodes.find(({ id }) => id === node_id);
  return { node_id, iteration: iteration || null, output: outputOfAttempt(node, row) };
}
