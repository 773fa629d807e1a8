import { findLinkedReview } from "#server/features/reviews/find-linked-review.ts";
import { linkedReviewDto } from "#server/runs/waits/review-dto.ts";
import type { LinkedReview } from "#server/runs/waits/schema.ts";

/** What somebody with a link is asked. Changes nothing: programs that look at links before people do must not decide. */
export const getLinkedReview = async ({ token }: { token: string }): Promise<LinkedReview> =>
  linkedReviewDto(await findLinkedReview(token));
