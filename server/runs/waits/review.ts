import type { ReviewVote as ReviewVoteRow, Wait } from "#prisma/generated/client.ts";
import type { Execution, ReviewVote } from "#server/runs/schema.ts";
import { Verdict } from "#server/workflow/nodes/human-loop-node.ts";
import { lateChoice, ReviewTerms } from "#server/workflow/nodes/review-terms.ts";

// A review is a wait for people: one that was resolved was decided, and one that expired counts as rejected.

/** What was decided, if anything was. */
export function verdictOf({ status, outcome, terms }: Pick<Wait, "status" | "outcome" | "terms">): {
  status: "waiting" | "approved" | "rejected" | "withdrawn";
  /** Id of the choice; null while nobody has decided. */
  choice: string | null;
  comment: string | null;
} {
  if (status === "expired") return { status: "rejected", choice: lateChoice(ReviewTerms.parse(terms ?? {}).choices), comment: null };
  if (status !== "resolved") return { status, choice: null, comment: null };
  const { decision, choice = decision, comment } = Verdict.parse(outcome);
  return { status: decision, choice, comment };
}

/** Who decided; null while nobody has, and after a timeout. The account may be gone, or never have been. */
const reviewerDto = (row: Pick<Wait, "reviewer_id" | "reviewer_email" | "reviewer_name">): Execution["reviews"][number]["reviewer"] =>
  row.reviewer_email === null ? null : { id: row.reviewer_id, email: row.reviewer_email, name: row.reviewer_name ?? "" };

/** Who decided, as what, how and when. */
export const deciderDto = (
  row: Pick<Wait, "status" | "reviewer_id" | "reviewer_email" | "reviewer_name" | "reviewer_role" | "via" | "resolved_at">,
): Pick<Execution["reviews"][number], "reviewer" | "role" | "via" | "decided_at"> => ({
  reviewer: reviewerDto(row),
  role: row.reviewer_role,
  via: row.status === "expired" ? "timeout" : row.via,
  decided_at: row.status === "withdrawn" ? null : (row.resolved_at?.toISOString() ?? null),
});

/** Returns one reviewer's vote in a review that needs several approvals. */
export const voteDto = ({ user_id, email, name, choice, comment, via, created_at }: ReviewVoteRow): ReviewVote => ({
  reviewer: { id: user_id, email, name },
  choice,
  comment,
  via,
  voted_at: created_at.toISOString(),
});
