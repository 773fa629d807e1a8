import { executionWake } from "#server/jobs/events.ts";
import { tellExecutor } from "#server/jobs/send-events.ts";

export interface Wake {
  execution_id: string;
  /** Of the event: the same one again counts once. */
  id: string;
}

/**
 * Tells waiting runs that something happened. Only a hint: what happened is in the database, and the sweeper sends the
 * hint again while nobody has acted on it.
 */
export const wakeRuns = (wakes: readonly Wake[]): Promise<void> =>
  tellExecutor(wakes.map(({ execution_id, id }) => executionWake.create({ execution_id }, { id })));
