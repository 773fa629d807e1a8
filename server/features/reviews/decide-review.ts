import { decidedSentence } from "#server/features/reviews/decided-sentence.ts";
import { type AuditActor, recordAudit } from "#server/platform/audit.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isFinal } from "#server/runs/schema.ts";
import { resolveWait } from "#server/runs/waits/resolve-wait.ts";
import { longTexts } from "#server/runs/waits/review-texts.ts";
import type { Decision } from "#server/runs/waits/schema.ts";
import { expireWaits, wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import type { Verdict } from "#server/workflow/nodes/human-loop-node.ts";

/** Who decides, and how he or she came here. */
export interface ReviewActor {
  /** Without an id: an address that got a link and has no account in the project. */
  user: { id: string | null; email: string; name: string };
  role: Role | null;
  auth: AuditActor["auth"];
}

const VIA = { session: "ui", platform_key: "api", email: "email" } as const satisfies Record<AuditActor["auth"]["type"], string>;

/**
 * Decides a review: the one place where people do. The row decides who was first, and against the timeout; the run is told
 * and takes the decision by itself.
 * @param review_id a review that the actor may decide; the caller has looked
 * @throws AppError CONFLICT when it was decided, timed out or withdrawn, with who and when, or when the run has ended
 */
export async function decideReview(
  review_id: string,
  actor: ReviewActor,
  verdict: { decision: Decision; comment?: string },
): Promise<void> {
  const { user, role, auth } = actor;
  const outcome: Verdict = { decision: verdict.decision, comment: cleanText(verdict.comment ?? "") || null };
  const by = { ...user, role, via: VIA[auth.type] };
  const decided = await db().$transaction(async (tx) => {
    const review = await resolveWait(tx, { id: review_id, reason: "review", outcome, by });
    if (!review) return undefined;
    const { project_id, execution_id, node_id, iteration, label } = review;
    await recordAudit(
      { user, auth, project: { id: project_id } },
      {
        action: verdict.decision === "approved" ? "review.approve" : "review.reject",
        resource_type: "review",
        resource_id: review_id,
        resource_name: label,
        detail: { execution_id, node_id, ...(iteration && { iteration }) },
      },
      tx,
    );
    return review;
  });
  if (!decided) throw await tooLate(review_id);
  await wakeEnded([decided]);
}

/** Why a review could not be decided. One that is due is rejected now, so that the answer is the truth. */
async function tooLate(review_id: string): Promise<AppError> {
  await expireWaits(review_id);
  const row = await db().wait.findUnique({
    where: { id: review_id },
    include: { execution: { select: { status: true } } },
    omit: longTexts,
  });
  if (!row) return notFound("review");
  if (row.status !== "waiting") return new AppError("CONFLICT", decidedSentence(row));
  const { status } = row.execution;
  return new AppError(
    "CONFLICT",
    isFinal(status) ? `This execution has already ended: it is ${status}.` : "This review cannot be decided at the moment. Try again.",
  );
}
