import { decideReviews } from "#server/features/reviews/decide.ts";
import { decideByLink, getLinkedReview } from "#server/features/reviews/link.ts";
import { countWaitingReviews, getReview, listReviews } from "#server/features/reviews/read.ts";
import {
  DecideByLinkInput,
  DecidedReviews,
  DecideReviewsInput,
  LinkedReview,
  ListReviewsInput,
  Review,
  ReviewLink,
  ReviewPage,
  ReviewRef,
  WaitingReviews,
} from "#server/features/reviews/schema.ts";
import { approverProcedure, endpoint, publicProcedure, router, viewerProcedure } from "#server/platform/rpc/trpc.ts";
import { Nothing } from "#server/shared/primitives-schema.ts";

const tag = "Reviews";

// Deciding one is also POST /executions/{execution_id}/approve, in the router of executions.
export const reviewsRouter = router({
  list: viewerProcedure
    .meta(
      endpoint("GET", "/reviews", {
        tag,
        summary: "List the reviews",
        description:
          "Newest first unless sort says otherwise. Of a long title, description, display_value or text the beginning is listed, and truncated is true.",
      }),
    )
    .input(ListReviewsInput)
    .output(ReviewPage)
    .query(({ ctx, input }) => listReviews(ctx.principal, input)),
  get: viewerProcedure
    .meta(endpoint("GET", "/reviews/{review_id}", { tag, summary: "Read a review", description: "With all that it asks, however long." }))
    .input(ReviewRef)
    .meta({ isLarge: true })
    .output(Review)
    .query(({ ctx, input }) => getReview(ctx.principal, input, ctx.texts)),
  decide: approverProcedure
    .meta(
      endpoint("POST", "/reviews/decide", {
        tag,
        summary: "Answer several reviews",
        description:
          "Each answer counts for itself: 200 says of each how its review stands, or why the answer was not taken. An answer to one review may also be sent to its execution. A key needs the scope `read` as well.",
        runs: true,
      }),
    )
    .input(DecideReviewsInput)
    .output(DecidedReviews)
    .mutation(({ ctx, input }) => decideReviews(ctx.principal, input)),
  // The web UI only: the badge in the navigation, and the page that a link in an e-mail leads to.
  waiting: viewerProcedure
    .input(Nothing)
    .output(WaitingReviews)
    .query(({ ctx }) => countWaitingReviews(ctx.principal)),
  byLink: publicProcedure
    .input(ReviewLink)
    .meta({ isLarge: true })
    .output(LinkedReview)
    .query(({ ctx, input }) => getLinkedReview(input, ctx.texts)),
  decideByLink: publicProcedure
    .input(DecideByLinkInput)
    .meta({ isLarge: true })
    .output(LinkedReview)
    .mutation(({ ctx, input }) => decideByLink(input, ctx.texts)),
});
