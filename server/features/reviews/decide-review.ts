import { Prisma } from "#prisma/generated/client.ts";
import { decidedSentence } from "#server/features/reviews/decided-sentence.ts";
import { type AuditActor, recordAudit } from "#server/platform/audit.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { finalStatuses, isFinal } from "#server/runs/schema.ts";
import { wakeRuns } from "#server/runs/use-cases/wake-run.ts";
import { expireReviews } from "#server/runs/waits/expire-reviews.ts";
import { longTexts } from "#server/runs/waits/review-texts.ts";
import type { Decision } from "#server/runs/waits/schema.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

/** Who decides, and how he or she came here. */
export interface ReviewActor {
  /** Without an id: an address that got a link and has no account in the project. */
  user: { id: string | null; email: string; name: string };
  role: Role | null;
  auth: AuditActor["auth"];
}

const VIA = { session: "ui", platform_key: "api", email: "email" } as const satisfies Record<AuditActor["auth"]["type"], string>;

interface Decided {
  project_id: string;
  execution_id: string;
  node_id: string;
  iteration: string;
  label: string;
}

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
  const comment = cleanText(verdict.comment ?? "") || null;
  const decided = await db().$transaction(async (tx) => {
    const [review] = await tx.$queryRaw<Decided[]>`
      UPDATE reviews r SET status = ${verdict.decision}::"ReviewStatus", comment = ${comment}, via = ${VIA[auth.type]}, decided_at = now(),
        reviewer_id = ${user.id}::uuid, reviewer_email = ${user.email}, reviewer_name = ${user.name}, reviewer_role = ${role}::"Role"
      FROM executions e
      WHERE r.id = ${review_id}::uuid AND r.status = 'waiting' AND (r.due_at IS NULL OR r.due_at > now())
        AND e.id = r.execution_id AND e.status::text NOT IN (${Prisma.join([...finalStatuses])})
      RETURNING r.project_id, r.execution_id, r.node_id, r.iteration, r.label`;
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
    await tx.notification.updateMany({ where: { kind: "review", subject_id: review_id, read_at: null }, data: { read_at: new Date() } });
    await tx.$executeRaw`SELECT pg_notify('treadle_control', ${execution_id})`;
    return review;
  });
  if (!decided) throw await tooLate(review_id);
  await wakeRuns([{ execution_id: decided.execution_id, id: `${review_id}-decided` }]);
}

/** Why a review could not be decided. One that is due is rejected now, so that the answer is the truth. */
async function tooLate(review_id: string): Promise<AppError> {
  await expireReviews(review_id);
  const row = await db().review.findUnique({
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
