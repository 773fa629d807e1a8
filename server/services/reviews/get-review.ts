import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import { notFound } from "#server/errors.ts";
import type { Review } from "#server/schemas/review.ts";
import { isUuid } from "#server/services/ids.ts";
import { continuingReviews, reviewDto, reviewFields } from "#server/services/reviews/review-dto.ts";

/** One review. @throws AppError NOT_FOUND */
export async function getReview({ project }: ProjectPrincipal, { review_id }: { review_id: string }): Promise<Review> {
  if (!isUuid(review_id)) throw notFound("review");
  const row = await db().review.findFirst({ where: { id: review_id, project_id: project.id }, include: reviewFields });
  if (!row) throw notFound("review");
  return reviewDto(row, await continuingReviews([row.id]));
}
