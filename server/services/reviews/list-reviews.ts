import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page } from "#server/schemas/primitives.ts";
import type { ListReviewsInput, Review } from "#server/schemas/review.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { reviewDto, reviewFields } from "#server/services/reviews/review-dto.ts";

const STATES = { waiting: { in: ["waiting"] }, decided: { in: ["approved", "rejected"] } } as const satisfies Record<
  string,
  Prisma.EnumReviewStatusFilter
>;

/** The project's reviews, newest first. */
export async function listReviews({ project }: ProjectPrincipal, input: ListReviewsInput): Promise<Page<Review>> {
  const where: Prisma.ReviewWhereInput = { project_id: project.id, ...(input.status && { status: STATES[input.status] }) };
  const found = await Promise.all([
    db().review.count({ where }),
    db().review.findMany({ where, include: reviewFields, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  return paged(input, found, reviewDto);
}
