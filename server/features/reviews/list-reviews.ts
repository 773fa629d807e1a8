import type { Prisma } from "#prisma/generated/client.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { continuingReviews, reviewDto, reviewFields } from "#server/runs/waits/review-dto.ts";
import { longTexts, textBeginnings } from "#server/runs/waits/review-texts.ts";
import type { ListReviewsInput, ReviewSummary } from "#server/runs/waits/schema.ts";
import type { Page } from "#server/shared/primitives-schema.ts";

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
    reason: "review",
    ...(status && { status: STATES[status] }),
    ...(execution_id !== undefined && { execution_id }),
  };
  const [total, rows] = await Promise.all([
    db().wait.count({ where }),
    db().wait.findMany({ where, include: reviewFields, omit: longTexts, orderBy: { id: "desc" }, ...pageWindow(input) }),
  ]);
  const ids = rows.map(({ id }) => id);
  const [continuing, texts] = await Promise.all([continuingReviews(ids), textBeginnings(ids)]);
  // One whose run was deleted between the two reads has no texts any more.
  const listed = rows.flatMap((row) => {
    const text = texts.get(row.id);
    return text ? [{ ...row, ...text }] : [];
  });
  return paged(input, [total, listed], (row) => ({ ...reviewDto(row, continuing), truncated: row.truncated }));
}
