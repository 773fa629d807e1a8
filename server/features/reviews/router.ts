import { decideByLink, getLinkedReview } from "#server/features/reviews/link.ts";
import { countWaitingReviews, getReview, listReviews } from "#server/features/reviews/read.ts";
import {
  DecideByLinkInput,
  LinkedReview,
  ListReviewsInput,
  Review,
  ReviewLink,
  ReviewPage,
  ReviewRef,
  WaitingReviews,
} from "#server/features/reviews/schema.ts";
import { endpoint, publicProcedure, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { Nothing } from "#server/shared/primitives-schema.ts";

const tag = "Reviews";

// Deciding over REST is POST /executions/{execution_id}/approve, in routers/executions.ts.
export const reviewsRouter = router({
  list: viewerProcedure
    .meta(
      endpoint("GET", "/reviews", {
        tag,
        summary: "List the reviews",
        description:
          "Newest first; filter by waiting or decided. Of a long title, description or display_value the beginning is listed, and truncated is true.",
      }),
    )
    .input(ListReviewsInput)
    .output(ReviewPage)
    .query(({ ctx, input }) => listReviews(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/reviews/{review_id}", { tag, summary: "Read a review", description: "With all that it asks, however long." }))
    .input(ReviewRef)
    .output(Review)
    .query(({ ctx, input }) => getReview(ctx.principal, input)),
  // The web UI only: the badge in the navigation, and the page that a link in an e-mail leads to.
  waiting: viewerProcedure
    .input(Nothing)
    .output(WaitingReviews)
    .query(({ ctx }) => countWaitingReviews(ctx.principal)),
  byLink: publicProcedure
    .input(ReviewLink)
    .output(LinkedReview)
    .query(({ input }) => getLinkedReview(input)),
  decideByLink: publicProcedure
    .input(DecideByLinkInput)
    .output(LinkedReview)
    .mutation(({ input }) => decideByLink(input)),
});
