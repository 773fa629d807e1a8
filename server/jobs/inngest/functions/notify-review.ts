import { mailReview, tellReviewers } from "#server/features/reviews/tell.ts";
import { reviewOpened } from "#server/jobs/events.ts";
import { inngest } from "#server/jobs/inngest/client.ts";
import { log } from "#server/platform/log.ts";

/**
 * Tells people that a run waits for them: in the web app, and by e-mail where the node names an address. Two steps, so that
 * a mail server that is down holds nothing up and is tried again by itself. The run knows nothing of this.
 */
export const notifyReview = () =>
  inngest().createFunction(
    {
      id: "notify-review",
      name: "Tell reviewers",
      retries: 10,
      triggers: [reviewOpened],
      idempotency: "event.data.review_id",
      onFailure: ({ event, error }) =>
        log.error(
          { err: error, review_id: event.data.event.data.review_id },
          "people could not be told of a review; it waits all the same",
        ),
    },
    async ({ event, step }) => {
      await step.run("tell members", () => tellReviewers(event.data.review_id));
      await step.run("send mail", () => mailReview(event.data.review_id));
    },
  );
