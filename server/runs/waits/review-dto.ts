import type { Prisma, Wait } from "#prisma/generated/client.ts";
import { pool } from "#server/platform/db/client.ts";
import type { Execution } from "#server/runs/schema.ts";
import type { LinkedReview, Review } from "#server/runs/waits/schema.ts";
import { Verdict } from "#server/workflow/nodes/human-loop-node.ts";

// A review is a wait for people: one that was resolved was decided, and one that expired counts as rejected.

/** What a review reads beside its own row. */
export const reviewFields = {
  execution: { select: { workflow_id: true, workflow: { select: { name: true } } } },
} as const satisfies Prisma.WaitInclude;

type ReviewRow = Prisma.WaitGetPayload<{ include: typeof reviewFields }>;

const iso = (time: Date | null) => time?.toISOString() ?? null;

/** What was decided, if anything was. */
export function verdictOf({ status, outcome }: Pick<Wait, "status" | "outcome">): Pick<Review, "status" | "comment"> {
  if (status === "expired") return { status: "rejected", comment: null };
  if (status !== "resolved") return { status, comment: null };
  const { decision, comment } = Verdict.parse(outcome);
  return { status: decision, comment };
}

/** Who decided; null while nobody has, and after a timeout. The account may be gone, or never have been. */
const reviewerDto = (row: Pick<Wait, "reviewer_id" | "reviewer_email" | "reviewer_name">): Execution["reviews"][number]["reviewer"] =>
  row.reviewer_email === null ? null : { id: row.reviewer_id, email: row.reviewer_email, name: row.reviewer_name ?? "" };

const viaOf = ({ status, via }: Pick<Wait, "status" | "via">): string | null => (status === "expired" ? "timeout" : via);

/** What deciderDto reads. */
export const deciderFields = {
  status: true,
  reviewer_id: true,
  reviewer_email: true,
  reviewer_name: true,
  reviewer_role: true,
  via: true,
  resolved_at: true,
} as const satisfies Prisma.WaitSelect;

/** Who decided, as what, how and when. */
export const deciderDto = (
  row: Pick<Wait, keyof typeof deciderFields>,
): Pick<Execution["reviews"][number], "reviewer" | "role" | "via" | "decided_at"> => ({
  reviewer: reviewerDto(row),
  role: row.reviewer_role,
  via: viaOf(row),
  decided_at: iso(row.resolved_at),
});

/** A review as whoever holds a link to it sees it. */
export const linkedReviewDto = (row: ReviewRow): LinkedReview => ({
  label: row.label,
  title: row.title,
  description: row.description,
  display_value: row.display_value,
  workflow_name: row.execution.workflow.name,
  ...verdictOf(row),
  reviewer: reviewerDto(row),
  via: viaOf(row),
  due_at: iso(row.deadline),
  decided_at: iso(row.resolved_at),
});

/**
 * Ids of those reviews whose node has something attached to Rejected, by the graph that their runs run.
 * @param ids reviews that the caller may see
 */
export async function continuingReviews(ids: readonly string[]): Promise<Set<string>> {
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
export const reviewDto = (row: ReviewRow, continuing: ReadonlySet<string>): Review => ({
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
