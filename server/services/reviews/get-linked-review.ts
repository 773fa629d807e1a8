import type { LinkedReview } from "#server/schemas/review.ts";
import { findLinkedReview } from "#server/services/reviews/find-linked-review.ts";
import { linkedReviewDto } from "#server/services/reviews/review-dto.ts";

/** What somebody with a link is asked. Changes nothing: programs that look at links before people do must not decide. */
export const getLinkedReview = async ({ token }: { token: string }): Promise<LinkedReview> =>
  linkedReviewDto(await findLinkedReview(token));
