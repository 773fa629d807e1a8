import { executionCancelled, executionRequested, executionWake } from "#server/events/events.ts";
import { sendEvents } from "#server/events/send-events.ts";
import { pool } from "#server/platform/db/client.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { localWorker } from "#server/runs/local-worker.ts";
import { type DueRun, noteRequested, setDispatch } from "#server/runs/store/queue.ts";

const requested = ({ execution_id, project_id, dispatch }: DueRun) =>
  executionRequested.create({ execution_id, project_id, dispatch }, { id: `${execution_id}-${dispatch}` });

/**
 * Asks an Inngest server to execute runs. The events' ids make a repeated request harmless.
 * @returns whether it was sent, in seconds where a server does not answer; never throws
 */
export const requestRuns = (runs: readonly DueRun[]): Promise<boolean> => sendEvents(runs.map(requested));

/**
 * Tells whatever executes runs that these are due. Nothing is lost when that fails: their rows say so too, and are looked at every
 * few seconds.
 * @returns whether an Inngest server has taken it, in two seconds or soon after; never throws
 */
export async function dispatchRuns(runs: readonly DueRun[]): Promise<boolean> {
  if (!isEmbeddedExecutor()) return requestRuns(runs);
  if (runs.length) localWorker(pool())?.poke();
  return true;
}

/** Of the event for an Inngest server: the same one again counts once. */
interface Wake {
  execution_id: string;
  id: string;
}

/**
 * Tells whatever executes runs that these, which waited for something, are due because of it.
 * @returns as `dispatchRuns`
 */
export async function dispatchWakes(wakes: readonly Wake[]): Promise<boolean> {
  if (!isEmbeddedExecutor()) return sendEvents(wakes.map(({ execution_id, id }) => executionWake.create({ execution_id }, { id })));
  if (wakes.length) localWorker(pool())?.poke();
  return true;
}

/**
 * Tells an Inngest server of runs that have been cancelled, which goes on with them no more; whoever executes one here has been told
 * by its row. A server that misses it finds each of them ended.
 */
export function dispatchCancels(ids: readonly string[]): void {
  if (isEmbeddedExecutor()) return;
  void sendEvents(ids.map((execution_id) => executionCancelled.create({ execution_id }, { id: `${execution_id}-cancelled` })));
}

/**
 * Asks for executions whose rows say that they are soon due again, since this process may die before it has asked, and
 * gives them more time when that has worked.
 * @returns false when the executor could not be reached
 */
export async function requestDue(runs: readonly DueRun[]): Promise<boolean> {
  if (!(await requestRuns(runs))) return false;
  await noteRequested(runs);
  return true;
}

/**
 * Makes `dispatch` the newest request for an unfinished execution and sends it. Older ones end once it has claimed the run.
 * Called again with the same number it changes nothing and only asks again.
 * @returns false when the executor could not be reached; the execution is soon due again
 */
export const redispatch = async (run: DueRun): Promise<boolean> => !(await setDispatch(run)) || requestDue([run]);
