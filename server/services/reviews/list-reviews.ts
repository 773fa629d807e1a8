import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { db } from "#server/db/client.ts";
import type { Page } from "#server/schemas/primitives.ts";
import type { ListReviewsInput, Review } from "#server/schemas/review.ts";
import { isUuid } from "#server/services/ids.ts";
import { paged, pageWindow } from "#server/services/paging.ts";
import { continuingReviews, reviewDto, reviewFields } from "#server/services/reviews/review-dto.ts";

const STATES = { waiting: { in: ["waiting"] }, decided: { in: ["approved", "rejected"] } } as const satisfies Record<
  string,
  Prisma.EnumReviewStatusFilter
>;

/** The project's reviews, newest first. */
export async function listReviews({ project }: ProjectPrincipal, input: ListReviewsInput): Promise<Page<Review>> {
  const { status, execution_id } = input;
  // An execution that cannot exist has none.
  if (execution_id !== undefined && !isUuid(execution_id)) return { items: [], total: 0, page: input.page, per_page: input.per_page };
  const where: Prisma.ReviewWhereInput = {
    project_id: project.id,
    ...(status && { status: STATES[status] }),
    ...(execution_id !== undefined && { execution_id }),
  };
  const found = await Promise.all([
    db().review.count({ where }),
    db().review.findMany({ where, include: reviewFields, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  const continuing = await continuingReviews(found[1].map(({ id }) => id));
  return paged(input, found, (row) => reviewDto(row, continuing));
}
