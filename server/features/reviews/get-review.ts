import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { continuingReviews, reviewDto, reviewFields } from "#server/runs/waits/review-dto.ts";
import type { Review } from "#server/runs/waits/schema.ts";

/** One review. @throws AppError NOT_FOUND */
export async function getReview({ project }: ProjectPrincipal, { review_id }: { review_id: string }): Promise<Review> {
  if (!isUuid(review_id)) throw notFound("review");
  const row = await db().wait.findFirst({ where: { id: review_id, project_id: project.id, reason: "review" }, include: reviewFields });
  if (!row) throw notFound("review");
  return reviewDto(row, await continuingReviews([row.id]));
}
