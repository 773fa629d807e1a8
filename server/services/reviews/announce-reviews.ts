import { inngest } from "#server/inngest/client.ts";
import { reviewOpened } from "#server/inngest/events.ts";
import { log } from "#server/log.ts";

/**
 * Asks for the people who can decide these reviews to be told. The events' ids make a repeat harmless. What cannot be sent
 * is not an error of the caller: the sweeper asks again for reviews of which nobody was told.
 */
export async function announceReviews(review_ids: string[]): Promise<void> {
  if (!review_ids.length) return;
  try {
    await inngest().send(review_ids.map((review_id) => reviewOpened.create({ review_id }, { id: `${review_id}-opened` })));
  } catch (error) {
    log.warn({ err: error, review_ids }, "the executor could not be told of open reviews, the sweeper will try again");
  }
}
