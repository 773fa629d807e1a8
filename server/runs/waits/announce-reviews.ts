import { reviewOpened } from "#server/jobs/events.ts";
import { tellExecutor } from "#server/jobs/send-events.ts";

/**
 * Asks for the people who can decide these reviews to be told. The events' ids make a repeat harmless. What cannot be sent
 * is not an error of the caller: the sweeper asks again for reviews of which nobody was told.
 */
export const announceReviews = (review_ids: readonly string[]): Promise<void> =>
  tellExecutor(review_ids.map((review_id) => reviewOpened.create({ review_id }, { id: `${review_id}-opened` })));
