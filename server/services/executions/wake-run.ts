import { inngest } from "#server/inngest/client.ts";
import { executionWake } from "#server/inngest/events.ts";
import { log } from "#server/log.ts";

export interface Wake {
  execution_id: string;
  /** Of the event: the same one again counts once. */
  id: string;
}

/**
 * Tells waiting runs that something happened. Only a hint: what happened is in the database, and the sweeper sends the
 * hint again while nobody has acted on it.
 */
export async function wakeRuns(wakes: readonly Wake[]): Promise<void> {
  if (!wakes.length) return;
  try {
    await inngest().send(wakes.map(({ execution_id, id }) => executionWake.create({ execution_id }, { id })));
  } catch (error) {
    const execution_ids = wakes.map(({ execution_id }) => execution_id);
    log.warn({ err: error, execution_ids }, "waiting runs could not be woken, the sweeper will try again");
  }
}
