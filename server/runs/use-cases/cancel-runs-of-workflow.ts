import { db } from "#server/platform/db/client.ts";
import { cancelRunsOfWorkflow } from "#server/runs/store/end.ts";
import { cancelChildren, inTheBackground, tellParent } from "#server/runs/use-cases/end-children.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";

/**
 * Cancels every run of a workflow that has not ended: its waits, the calls that its agents make, and the runs that its nodes started.
 * Resolves when all of them are final; runs of other workflows that started or wait for one follow, at the latest with the next sweep.
 */
export async function cancelWorkflowRuns(workflow_id: string): Promise<void> {
  for (;;) {
    const ids = await db().$transaction((tx) => cancelRunsOfWorkflow(tx, workflow_id));
    if (ids.length === 0) return;
    dispatchCancels(ids);
    for (const id of ids) {
      await cancelChildren(id);
      inTheBackground(tellParent(id), "a run could not be told that the run it waits for was cancelled, the next sweep tells it");
    }
  }
}
