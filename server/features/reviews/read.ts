import type { Prisma } from "#prisma/generated/client.ts";
import type { LinkedReview, ListReviewsInput, Review, ReviewSummary } from "#server/features/reviews/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { continuingReviews, countReviews, findReview, findReviews, type ReviewRow, textBeginnings } from "#server/runs/store/reviews.ts";
import { deciderDto, verdictOf } from "#server/runs/waits/review.ts";
import type { Page } from "#server/shared/primitives-schema.ts";

/** A review as whoever holds a link to it sees it. */
export function linkedReviewDto(row: ReviewRow): LinkedReview {
  const { label, title, description, display_value, deadline } = row;
  const { reviewer, via, decided_at } = deciderDto(row);
  return {
    ...{ label, title, description, display_value, workflow_name: row.execution.workflow.name },
    ...verdictOf(row),
    ...{ reviewer, via, due_at: deadline?.toISOString() ?? null, decided_at },
  };
}

/** A review as the members of its project see it. */
const reviewDto = (row: ReviewRow, continuing: ReadonlySet<string>): Review => ({
  id: row.id,
  execution_id: row.execution_id,
  workflow_id: row.execution.workflow_id,
  node_id: row.node_id,
  iteration: row.iteration,
  ...linkedReviewDto(row),
  role: row.reviewer_role,
  rejection_continues: continuing.has(row.id),
  created_at: row.created_at.toISOString(),
});

const STATES = { waiting: { in: ["waiting"] }, decided: { in: ["resolved", "expired"] } } as const satisfies Record<
  string,
  Prisma.EnumWaitStatusFilter
>;

/** The project's reviews, newest first. Of a long text only the beginning is read. */
export async function listReviews({ project }: ProjectPrincipal, input: ListReviewsInput): Promise<Page<ReviewSummary>> {
  const { status, execution_id } = input;
  // An execution that cannot exist has none.
  if (execution_id !== undefined && !isUuid(execution_id)) return { items: [], total: 0, page: input.page, per_page: input.per_page };
  const where: Prisma.WaitWhereInput = {
    project_id: project.id,
    ...(status && { status: STATES[status] }),
    ...(execution_id !== undefined && { execution_id }),
  };
  const [total, rows] = await Promise.all([countReviews(where), findReviews(where, { orderBy: { id: "desc" }, ...pageWindow(input) })]);
  const ids = rows.map(({ id }) => id);
  const [continuing, texts] = await Promise.all([continuingReviews(ids), textBeginnings(ids)]);
  // One whose run was deleted between the two reads has no texts any more.
  const listed = rows.flatMap((row) => {
    const text = texts.get(row.id);
    return text ? [{ ...row, ...text }] : [];
  });
  return paged(input, [total, listed], (row) => ({ ...reviewDto(row, continuing), truncated: row.truncated }));
}

/** One review. @throws AppError NOT_FOUND */
export async function getReview({ project }: ProjectPrincipal, { review_id }: { review_id: string }): Promise<Review> {
  if (!isUuid(review_id)) throw notFound("review");
  const row = await findReview({ id: review_id, project_id: project.id });
  if (!row) throw notFound("review");
  return reviewDto(row, await continuingReviews([row.id]));
}

/** How many reviews of the project wait for somebody. */
export const countWaitingReviews = async ({ project }: ProjectPrincipal): Promise<{ count: number }> => ({
  count: await countReviews({ project_id: project.id, status: "waiting" }),
});
