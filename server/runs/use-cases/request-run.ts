import { executionRequested } from "#server/jobs/events.ts";
import { sendEvents, tellExecutor } from "#server/jobs/send-events.ts";

export interface RunRequest {
  execution_id: string;
  project_id: string;
  dispatch: number;
}

const event = (data: RunRequest) => executionRequested.create(data, { id: `${data.execution_id}-${data.dispatch}` });

/**
 * Asks the executor to carry executions on. The events' ids make a repeated request harmless. A request that cannot be
 * sent is not an error of the caller: the executions are in the database, and the sweeper asks again.
 * @returns whether it was sent, in seconds where a server does not answer; never throws
 */
export const requestRuns = (runs: readonly RunRequest[]): Promise<boolean> => sendEvents(runs.map(event));

/** Like `requestRuns` for one, off the way of a caller whom somebody waits for. */
export const requestRun = (run: RunRequest): Promise<void> => tellExecutor([event(run)]);
