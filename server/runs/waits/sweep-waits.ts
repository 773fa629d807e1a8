import { reviewOpened, reviewOverlooked } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import type { Sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { enqueueRuns } from "#server/runs/store/queue.ts";
import { MAY_BE_UNTOLD, overlookedReviews, untoldReviews } from "#server/runs/store/reviews.ts";
import { expireDue, hasUntaken, MAY_BE_OVER, untakenWaits } from "#server/runs/store/waits.ts";
import { dispatchWakes } from "#server/runs/worker/dispatch.ts";

/** Tells the runs of waits that have just ended, which are due; the same wait again counts once. */
export function wakeEnded(waits: readonly { id: string; execution_id: string }[]): void {
  void dispatchWakes(waits.map(({ id, execution_id }) => ({ execution_id, id: `${id}-decided` })));
}

/**
 * Wakes a run when a wait of it has ended that it has not acted on. Must be called after the Inngest server has stored that the run
 * waits: an earlier wake has reached no waiting function.
 * @param turn names this call among those of the run, so that a repeated call sends the same event
 */
export async function wakeIfEnded(execution_id: string, turn: string): Promise<void> {
  if (await hasUntaken(execution_id)) void dispatchWakes([{ execution_id, id: `${execution_id}-look-${turn}` }]);
}

/**
 * Ends waits whose deadline has passed, and tells their runs.
 * @param wait_id only this one; left out, a batch of those that are due
 */
export async function expireWaits(wait_id?: string): Promise<void> {
  wakeEnded(await expireDue(wait_id));
}

/**
 * Expires waits whose deadline has passed, and wakes runs again that have not acted on the end of one. The event of a wait's end has
 * one id, so an Inngest server that is behind does not receive it twice. Where it was lost, the run's row requests the run again.
 */
export const waitSweep: Sweep = {
  isDue: MAY_BE_OVER,
  run: async () => {
    await expireWaits();
    const untaken = await untakenWaits();
    if (untaken.length === 0) return;
    if (isEmbeddedExecutor()) await enqueueRuns(untaken.map(({ execution_id }) => execution_id));
    wakeEnded(untaken);
    log.info({ found: untaken.length }, "woke runs again that had not taken the end of a wait");
  },
};

/** Has people told of reviews that nobody was told of, and again of those that they have overlooked. */
export const reviewSweep: Sweep = {
  isDue: MAY_BE_UNTOLD,
  run: async () => {
    await announceReviews(await untoldReviews());
    // Taken by one sweep, and again when nothing came of it: the row counts how often people were told.
    const overlooked = await overlookedReviews();
    await publishEvents(overlooked.map((due) => reviewOverlooked.create(due, { id: `${due.review_id}-reminder-${due.count}` })));
  },
};

/**
 * Asks for the people who can decide these reviews to be told. The events' ids make a repeat harmless. What cannot be sent
 * is not an error of the caller: the sweeper asks again for reviews of which nobody was told.
 */
export const announceReviews = (review_ids: readonly string[]): Promise<void> =>
  publishEvents(review_ids.map((review_id) => reviewOpened.create({ review_id }, { id: `${review_id}-opened` })));
