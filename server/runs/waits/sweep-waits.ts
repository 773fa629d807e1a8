import { randomUUID } from "node:crypto";
import { reviewOpened, reviewOverlooked } from "#server/events/events.ts";
import { publishEvents } from "#server/events/send-events.ts";
import type { Sweep } from "#server/platform/db/sweep.ts";
import { log } from "#server/platform/log.ts";
import { isEmbeddedExecutor } from "#server/platform/settings.ts";
import { nextDispatches } from "#server/runs/store/queue.ts";
import { MAY_BE_UNTOLD, overlookedReviews, untoldReviews } from "#server/runs/store/reviews.ts";
import { expireDue, hasUntaken, MAY_BE_OVER, runsAsleep } from "#server/runs/store/waits.ts";
import { dispatchWakes, requestDue, wakeRuns } from "#server/runs/worker/dispatch.ts";

/** Tells the runs of waits that have just ended, which are due; the same wait again counts once. */
export function wakeEnded(waits: readonly { id: string; execution_id: string }[]): void {
  void dispatchWakes(waits.map(({ id, execution_id }) => ({ execution_id, id: `${id}-decided` })));
}

/** Tells runs once more, whatever they were told before. */
const wakeAgain = (execution_ids: readonly string[]): Promise<void> =>
  wakeRuns(execution_ids.map((execution_id) => ({ execution_id, id: `${execution_id}-${randomUUID()}` })));

/**
 * Sends the wake again when a wait has ended and the run has not taken that. To be called when it is stored that the run waits:
 * a wake that was sent before found nobody.
 */
export async function wakeIfEnded(execution_id: string): Promise<void> {
  if (await hasUntaken(execution_id)) await wakeAgain([execution_id]);
}

/**
 * Ends waits whose deadline has passed, and tells their runs.
 * @param wait_id only this one; left out, a batch of those that are due
 */
export async function expireWaits(wait_id?: string): Promise<void> {
  wakeEnded(await expireDue(wait_id));
}

/**
 * Looks after waits: ends those whose deadline has passed, and wakes runs again that have not taken the end of one (a run that still
 * sleeps after two minutes is asked for as a new dispatch).
 */
export const waitSweep: Sweep = {
  isDue: MAY_BE_OVER,
  run: async () => {
    await expireWaits();
    const asleep = await runsAsleep();
    await wakeAgain(asleep.map(({ execution_id }) => execution_id));
    const late = asleep.filter((row) => row.is_late).map(({ execution_id }) => execution_id);
    if (late.length && !isEmbeddedExecutor()) await requestDue(await nextDispatches(late));
    if (asleep.length) log.info({ found: asleep.length }, "woke runs again that had not taken the end of a wait");
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
