import type { Prisma, Wait } from "#prisma/generated/client.ts";
import type { WaitStatus } from "#prisma/generated/enums.ts";
import type { ApproveInput, Decision } from "#server/features/reviews/schema.ts";
import { type AuditActor, recordAuditOn } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import type { Execution } from "#server/runs/schema.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { findReviews, type ShortReviewRow } from "#server/runs/store/reviews.ts";
import { resolveWait } from "#server/runs/store/waits.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { verdictOf } from "#server/runs/waits/review.ts";
import { expireWaits, wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import type { Verdict } from "#server/workflow/nodes/human-loop-node.ts";

/** Who decides, and how he or she came here. */
export interface ReviewActor {
  /** Without an id: an address that got a link and has no account in the project. */
  user: { id: string | null; email: string; name: string };
  role: Role | null;
  auth: AuditActor["auth"];
}

const VIA = { session: "ui", platform_key: "api", email: "email", assistant: "assistant" } as const satisfies Record<
  AuditActor["auth"]["type"],
  string
>;

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
  const decided = await inTransaction(async (client) => {
    const review = await resolveWait({ id: review_id, reason: "review", outcome, by }, client);
    if (!review) return undefined;
    const { project_id, execution_id, node_id, iteration, label } = review;
    await recordAuditOn(
      client,
      { user, auth, project: { id: project_id } },
      {
        action: verdict.decision === "approved" ? "review.approve" : "review.reject",
        resource_type: "review",
        resource_id: review_id,
        resource_name: label,
        detail: { execution_id, node_id, ...(iteration && { iteration }) },
      },
    );
    return review;
  });
  if (!decided) throw await tooLate(review_id);
  wakeEnded([decided]);
}

/** Why a review could not be decided. One that is due is rejected now, so that the answer is the truth. */
async function tooLate(review_id: string): Promise<AppError> {
  await expireWaits(review_id);
  const [row] = await findReviews({ id: review_id }, {});
  if (!row) return notFound("review");
  if (row.status !== "waiting") return new AppError("CONFLICT", decidedSentence(row));
  const { status } = row.execution;
  return new AppError(
    "CONFLICT",
    isFinal(status) ? `This execution has already ended: it is ${status}.` : "This review cannot be decided at the moment. Try again.",
  );
}

type Decided = Pick<Wait, "label" | "status" | "outcome" | "reviewer_name" | "reviewer_email" | "resolved_at">;

const atTime = (time: Date | null) => (time ? ` on ${time.toISOString().slice(0, 16).replace("T", " ")} UTC` : "");

/** Who decided what and when, for whoever comes too late. */
export function decidedSentence({ label, status, outcome, reviewer_name, reviewer_email, resolved_at }: Decided): string {
  const when = atTime(resolved_at);
  if (status === "withdrawn") return `The review “${label}” was withdrawn${when}: its run ended before anybody decided.`;
  if (status === "expired") return `Nobody decided the review “${label}” in time: it was rejected by its timeout${when}.`;
  const email = reviewer_email ?? "a former member";
  const who = reviewer_name ? `${reviewer_name} (${email})` : email;
  return `${who} has already ${verdictOf({ status, outcome }).status} the review “${label}”${when}.`;
}

/** How many waiting reviews an answer lists. */
const LISTED = 50;

/**
 * Approves or rejects the review that an execution waits for.
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for a node that the graph does not have; BAD_REQUEST when several reviews
 *   wait and the input does not say which; CONFLICT when none waits, with who decided and when
 */
export async function approveExecution(principal: ProjectPrincipal, input: ApproveInput): Promise<Execution> {
  const { execution_id, decision, comment } = input;
  const { user, role, auth } = principal;
  await decideReview(await reviewMeant(principal, input), { user, role, auth }, { decision, ...(comment !== undefined && { comment }) });
  return getExecution(principal, { execution_id });
}

/** Id of the one waiting review that the input means. */
async function reviewMeant({ project }: ProjectPrincipal, { execution_id, node_id, iteration }: ApproveInput): Promise<string> {
  const execution = await findExecution({ project_id: project.id, execution_id }, { status: true, snapshot_id: true });
  const where = {
    execution_id,
    ...(node_id !== undefined && { node_id }),
    ...(iteration !== undefined && { iteration }),
  };
  const waiting = await findReviews({ ...where, status: "waiting" }, { orderBy: { id: "asc" }, take: LISTED });
  const [review, ...others] = waiting;
  if (review && others.length === 0) return review.id;
  if (review) throw ambiguous(waiting);
  if (node_id !== undefined) await assertReviewNode(execution.snapshot_id, node_id);
  throw await noneWaits(where, execution.status);
}

function ambiguous(waiting: ShortReviewRow[]): AppError {
  const isOneNode = new Set(waiting.map((review) => review.node_id)).size === 1;
  const path = isOneNode ? "iteration" : "node_id";
  const placeOf = ({ node_id, label, iteration }: ShortReviewRow) =>
    `node_id ${node_id} (${label})${iteration === "" ? "" : `, iteration ${iteration}`}`;
  const count = waiting.length === LISTED ? `${LISTED} or more` : waiting.length;
  return new AppError(
    "BAD_REQUEST",
    `${count} reviews wait in this execution. Say with ${path} which one you mean: ${waiting.map(placeOf).join("; ")}.`,
    { errors: waiting.map((review) => ({ path, message: `${placeOf(review)} waits.` })) },
  );
}

/** @throws AppError VALIDATION_ERROR unless the graph that runs has a review with this id */
async function assertReviewNode(snapshot_id: string, node_id: string): Promise<void> {
  const { nodes } = await snapshotGraph(snapshot_id);
  if (nodes.some((node) => node.id === node_id && node.type === "humanLoopNode")) return;
  throw new AppError("VALIDATION_ERROR", `node_id: this workflow has no review with the id “${node_id}”.`, {
    errors: [{ path: "node_id", message: "There is no review with this id." }],
  });
}

async function noneWaits(where: Prisma.WaitWhereInput, status: Execution["status"]): Promise<AppError> {
  const lastOf = async (...ends: WaitStatus[]) =>
    (await findReviews({ ...where, status: { in: ends } }, { orderBy: { resolved_at: "desc" }, take: 1 }))[0];
  const last = (await lastOf("resolved", "expired")) ?? (await lastOf("withdrawn"));
  if (last) return new AppError("CONFLICT", decidedSentence(last));
  if (isFinal(status)) return new AppError("CONFLICT", `This execution has already ended: it is ${status}.`);
  const isNamed = where.node_id !== undefined || where.iteration !== undefined;
  return new AppError("CONFLICT", `This execution is ${status} and does not wait for ${isNamed ? "that" : "a"} review.`);
}
