import { inngest } from "#server/inngest/client.ts";
import { executionRequested } from "#server/inngest/events.ts";
import { log } from "#server/log.ts";

/**
 * Asks the executor to carry an execution on. The event's id makes a repeated request harmless. A request that cannot be
 * sent is not an error of the caller: the execution is in the database, and the sweeper asks again.
 * @returns whether it was sent
 */
export async function requestRun(data: { execution_id: string; project_id: string; dispatch: number }): Promise<boolean> {
  try {
    await inngest().send(executionRequested.create(data, { id: `${data.execution_id}-${data.dispatch}` }));
    return true;
  } catch (error) {
    log.warn({ err: error, execution_id: data.execution_id }, "the executor could not be reached, the sweeper will ask again");
    return false;
  }
}
