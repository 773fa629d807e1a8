import type { Prisma } from "#prisma/generated/client.ts";
import type { LinkedReview, ListReviewsInput, Review, ReviewSummary } from "#server/features/reviews/schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { paged, pageWindow } from "#server/platform/paging.ts";
import { deciderDto, longTexts, verdictOf } from "#server/runs/waits/review.ts";
import type { Page } from "#server/shared/primitives-schema.ts";
import { PREVIEW_CHARACTERS } from "#server/workflow/output-size.ts";

/** What a review reads beside its own row. */
export const reviewFields = {
  execution: { select: { workflow_id: true, workflow: { select: { name: true } } } },
} as const satisfies Prisma.WaitInclude;

type ReviewRow = Prisma.WaitGetPayload<{ include: typeof reviewFields }>;

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

/**
 * Ids of those reviews whose node has something attached to Rejected, by the graph that their runs run.
 * @param ids reviews that the caller may see
 */
async function continuingReviews(ids: readonly string[]): Promise<Set<string>> {
  if (!ids.length) return new Set();
  const { rows } = await pool().query<{ id: string }>(
    `SELECT w.id FROM waits w JOIN executions e ON e.id = w.execution_id JOIN workflow_snapshots s ON s.id = e.snapshot_id
     WHERE w.id = ANY($1::uuid[]) AND EXISTS (
       SELECT FROM jsonb_array_elements(s.graph->'edges') AS edge
       WHERE edge->>'source' = w.node_id AND edge->>'sourceHandle' = 'rejected')`,
    [ids],
  );
  return new Set(rows.map(({ id }) => id));
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

interface Texts {
  title: string;
  description: string;
  display_value: string;
  /** One of them is longer. */
  truncated: boolean;
}

const columns = Object.keys(longTexts);
// The database counts whole characters, so no emoji is halved, and it unpacks no more of a stored text than that.
const beginning = (column: string) => `left(${column}, ${PREVIEW_CHARACTERS}) AS ${column}`;
const isLonger = (column: string) => `length(left(${column}, ${PREVIEW_CHARACTERS} + 1)) > ${PREVIEW_CHARACTERS}`;
const BEGINNINGS = `
  SELECT id, ${columns.map(beginning).join(", ")}, ${columns.map(isLonger).join(" OR ")} AS truncated
  FROM waits WHERE id = ANY($1::uuid[])`;

/**
 * What reviews ask, each text cut by the database to what a list shows.
 * @param ids reviews that the caller may see
 */
async function textBeginnings(ids: readonly string[]): Promise<Map<string, Texts>> {
  if (!ids.length) return new Map();
  const { rows } = await pool().query<Texts & { id: string }>(BEGINNINGS, [ids]);
  return new Map(rows.map((row) => [row.id, row]));
}

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

/** One review. @throws AppError NOT_FOUND */
export async function getReview({ project }: ProjectPrincipal, { review_id }: { review_id: string }): Promise<Review> {
  if (!isUuid(review_id)) throw notFound("review");
  const row = await db().wait.findFirst({ where: { id: review_id, project_id: project.id, reason: "review" }, include: reviewFields });
  if (!row) throw notFound("review");
  return reviewDto(row, await continuingReviews([row.id]));
}

/** How many reviews of the project wait for somebody. */
export const countWaitingReviews = async ({ project }: ProjectPrincipal): Promise<{ count: number }> => ({
  count: await db().wait.count({ where: { project_id: project.id, reason: "review", status: "waiting" } }),
});
