import { createHash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { assertRunnable, triggerValues } from "#server/features/workflows/execute.ts";
import { savedWorkflow } from "#server/features/workflows/saved-workflow.ts";
import type { Sweep } from "#server/platform/db/sweep.ts";
import { ERRORS, isAppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";
import { appUrl } from "#server/platform/settings.ts";
import { isStored } from "#server/runs/store/executions.ts";
import { type FailedRun, failedRun, failedRuns, MAY_HAVE_FAILED } from "#server/runs/store/failed-runs.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { labelOf } from "#server/workflow/graph.ts";

/** The id of the run that a failure starts: always the same one, so that it is started once, whoever starts it. A UUID v7 of the failure's time. */
function errorRunId(failed_id: string): string {
  const hex = createHash("sha256").update(`error run of ${failed_id}`).digest("hex");
  return `${failed_id.slice(0, 14)}7${hex.slice(0, 3)}-8${hex.slice(3, 6)}-${hex.slice(6, 18)}`;
}

/** What the error workflow is told (contract, section 6). */
async function inputFor({ id, workflow_id, workflow_name, error, failed_node_id, snapshot_id }: FailedRun): Promise<string> {
  const { nodes } = await snapshotGraph(snapshot_id);
  const node = nodes.find((candidate) => candidate.id === failed_node_id);
  return JSON.stringify({
    execution_id: id,
    workflow: { id: workflow_id, name: workflow_name },
    failed_node: node ? { id: node.id, label: labelOf(node) } : null,
    error,
    url: `${appUrl()}/runs/${id}`,
  });
}

/** Failures of which this process knows that they have started a run, or cannot. */
const settled = new LRUCache<string, true>({ max: 5000 });

async function startRunOf(id: string, failed: FailedRun): Promise<void> {
  const { project_id, error_workflow_id, assistant_message_id } = failed;
  const saved = await savedWorkflow(error_workflow_id);
  if (!saved || saved.project_id !== project_id) return;
  const { graph, agents, version, snapshot_id } = saved;
  const names = await assertRunnable(project_id, graph, agents);
  const values = triggerValues(graph, { input: await inputFor(failed) });
  const starter = { started_by_id: null, assistant_message_id };
  const run = { id, project_id, workflow_id: error_workflow_id, workflow_version: version, snapshot_id, graph, names, ...starter };
  await startExecution({ ...run, ...values, trigger: "error", isCounted: false });
}

/**
 * Starts the error workflow of a run that has failed, if there is one for it; once, however often this is called.
 * @throws whatever may be gone a little later, such as a database that is away: the sweep tries again
 */
export async function startErrorWorkflow(execution_id: string): Promise<void> {
  const id = errorRunId(execution_id);
  const failed = (await isStored(id)) ? undefined : await failedRun(execution_id);
  try {
    if (failed) await startRunOf(id, failed);
  } catch (error) {
    if (!isAppError(error) || ERRORS[error.code].retryable) throw error;
    log.warn({ execution_id, reason: error.message }, "the error workflow of a failed run cannot be started");
  }
  settled.set(execution_id, true);
}

/** Starts what a process that died has not. */
export const failureSweep: Sweep = {
  isDue: MAY_HAVE_FAILED,
  run: async () => {
    for (const id of await failedRuns()) if (!settled.has(id)) await startErrorWorkflow(id);
  },
};
