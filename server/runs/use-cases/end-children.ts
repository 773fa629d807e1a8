import { db } from "#server/platform/db/client.ts";
import { log } from "#server/platform/log.ts";
import { childEnd, childrenUnderWay, projectOf } from "#server/runs/store/children.ts";
import { cancelRun } from "#server/runs/store/end.ts";
import { resolveWait } from "#server/runs/store/waits.ts";
import { wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import { dispatchCancels } from "#server/runs/worker/dispatch.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import type { ChildEnd } from "#server/workflow/nodes/workflow-node.ts";
import { MAX_OUTPUT, tooLarge } from "#server/workflow/output-size.ts";

/** Tells the run that waits for this one how it ended. Nothing happens when nobody waits, or it goes on. */
export async function tellParent(execution_id: string): Promise<void> {
  const end = await childEnd(execution_id);
  if (end) await endWait(execution_id, end);
}

/** Ends the wait for a run that has this id, or was to have it. */
export async function endWait(id: string, { status, output, error }: ChildEnd): Promise<void> {
  const isTooLarge = output !== null && output.length > MAX_OUTPUT;
  const outcome: ChildEnd = isTooLarge ? { status: "failed", output: null, error: tooLarge(output.length) } : { status, output, error };
  const wait = await resolveWait({ id, reason: "child", outcome });
  if (wait) wakeEnded([wait]);
}

/** Cancels a run that another one has started, with all that its own nodes have started; one that has ended is left. */
export async function cancelChild(execution_id: string): Promise<void> {
  const project_id = await projectOf(execution_id);
  if (project_id === undefined) return;
  const run = await db().$transaction((tx) => cancelRun(tx, { project_id, execution_id }));
  if (run && !isFinal(run.was)) dispatchCancels([execution_id]);
  await cancelChildren(execution_id);
}

/** Cancels what the nodes of a run have started that has ended; nobody waits for that any more. */
export async function cancelChildren(parent_id: string): Promise<void> {
  for (const id of await childrenUnderWay(parent_id)) await cancelChild(id);
}

/** Does something for whoever sweeps later if it fails now. */
export function inTheBackground(work: Promise<void>, what: string): void {
  void work.catch((err: unknown) => log.warn({ err }, what));
}
