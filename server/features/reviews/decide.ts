import type { Prisma, Wait } from "#prisma/generated/client.ts";
import type { WaitStatus } from "#prisma/generated/enums.ts";
import type { BudgetVerdict } from "#server/features/budgets/schema.ts";
import { allowMore, amountMeant, releaseWaits } from "#server/features/budgets/waits.ts";
import { getReview } from "#server/features/reviews/read.ts";
import { assertMayDecide, type Counted, choiceMeant, countedAs, termsOf } from "#server/features/reviews/rights.ts";
import type { Answer, ApproveInput, DecidedReviews, DecideReviewsInput } from "#server/features/reviews/schema.ts";
import { type AuditActor, recordAudit } from "#server/platform/audit/audit.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { assertSeesRuns } from "#server/platform/auth/rights.ts";
import { cleanText } from "#server/platform/clean-text.ts";
import { inTransaction } from "#server/platform/db/client.ts";
import type { DeferredTexts } from "#server/platform/deferred-texts.ts";
import { AppError, errorBody, invalidField, isAppError, notFound } from "#server/platform/errors.ts";
import { type Execution, iterationPath } from "#server/runs/schema.ts";
import { findExecution } from "#server/runs/store/executions.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { castVote, changeText, voterOf } from "#server/runs/store/review-votes.ts";
import { findReviews, type ShortReviewRow } from "#server/runs/store/reviews.ts";
import { resolveWait } from "#server/runs/store/waits.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { verdictOf } from "#server/runs/waits/review.ts";
import { expireWaits, wakeEnded } from "#server/runs/waits/sweep-waits.ts";
import { isFinal } from "#server/shared/execution-status.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import type { Verdict } from "#server/workflow/nodes/human-loop-node.ts";
import { choiceName, isRejecting } from "#server/workflow/nodes/review-choices.ts";

/** Who decides, and how he or she came here. */
export interface ReviewActor {
  /** Without an id: an address that got a link and has no account in the project. */
  user: { id: string | null; email: string; name: string };
  role: Role | null;
  /** With the id of a platform key that is used. */
  auth: AuditActor["auth"] & { key_id?: string };
  /** The account of the address, where the actor is known by that alone; else the actor is counted as the account, see `countedAs`. */
  counted?: Counted;
  /** The node itself names the address whose link this is. */
  isNamed?: boolean;
}

const VIA = { session: "ui", platform_key: "api", email: "email", assistant: "assistant" } as const satisfies Record<
  AuditActor["auth"]["type"],
  string
>;

/** The answer of somebody who decides alone. */
const ALONE = { agreeing: 1, isNew: true };

/**
 * Answers a review: the one place where people do. The row decides who was first, and against the timeout; the run is told
 * and takes the decision by itself. Where several must agree, an answer counts until there are enough; one rejection decides.
 * @param review_id a review that the actor may see; the caller has looked
 * @throws AppError CONFLICT when it was decided, timed out or withdrawn, with who and when, or when the run has ended, or the
 *   actor has given this answer before; PERMISSION_DENIED with who may; VALIDATION_ERROR for an answer that it does not have
 */
export async function decideReview(review_id: string, actor: ReviewActor, answer: Answer): Promise<void> {
  const [review] = await findReviews({ id: review_id }, {});
  if (!review) throw notFound("review");
  if (review.status !== "waiting") throw await tooLate(review_id);
  const terms = termsOf(review);
  const counted = actor.counted ?? (await countedAs(actor));
  await assertMayDecide(review, terms, review.execution.started_by_id, { ...actor, counted });
  const meant = choiceMeant(terms, answer);
  if (answer.text !== undefined && !terms.editable)
    throw invalidField("text", "It cannot be changed.", "text: The text of this review cannot be changed.");
  const { user, role, auth } = actor;
  const text = answer.text === undefined ? undefined : cleanText(answer.text);
  const outcome = {
    decision: isRejecting(meant) ? "rejected" : "approved",
    choice: meant.id,
    comment: cleanText(answer.comment ?? "") || null,
    ...(review.reason === "budget" && { amount: amountMeant(isRejecting(meant) ? "rejected" : "approved", answer.amount, auth) }),
  } satisfies Verdict & { amount?: BudgetVerdict["amount"] };
  const by = { ...user, role, via: VIA[auth.type] };
  const decided = await inTransaction(async (client) => {
    const vote = terms.quorum === 1 ? ALONE : await castVote(client, review, { ...outcome, text, by, voter: voterOf(counted ?? user) });
    if (!vote) return undefined;
    if (!vote.isNew)
      throw new AppError(
        "CONFLICT",
        `You have already given this answer to the review “${review.label}”: it counts once. ${vote.agreeing} of ${terms.quorum} agree so far.`,
      );
    const isEnough = outcome.decision === "rejected" || vote.agreeing >= terms.quorum;
    const ended = isEnough && (await resolveWait({ id: review_id, reason: review.reason, outcome, by }, client));
    if (ended === undefined) return undefined;
    if (outcome.amount && ended) await allowMore(client, review.execution_id, outcome.amount);
    if (text !== undefined && ended) await changeText(client, review_id, text);
    const { project_id, execution_id, node_id, iteration, label } = review;
    await recordAudit(
      client,
      { user, auth, project: { id: project_id } },
      {
        action: outcome.decision === "approved" ? "review.approve" : "review.reject",
        resource_type: "review",
        resource_id: review_id,
        resource_name: label,
        detail: {
          execution_id,
          node_id,
          ...(iteration && { iteration }),
          ...(outcome.choice !== outcome.decision && { choice: outcome.choice }),
          ...(text !== undefined && { text: "changed" }),
          ...(terms.quorum > 1 && { decides: ended !== false }),
          ...(outcome.amount && { amount: outcome.amount }),
        },
      },
    );
    return ended;
  });
  if (decided === undefined) throw await tooLate(review_id);
  if (decided) wakeEnded([decided]);
  // The allowance is the run's, whichever of its nodes wait.
  if (decided && outcome.amount) await releaseWaits(review.project_id);
}

/**
 * Answers several reviews, one after the other; each counts for itself.
 * @returns of each, in their order, how its review stands, or why the answer was not taken
 * @throws AppError PERMISSION_DENIED for a key without the scope `read`
 */
export async function decideReviews(principal: ProjectPrincipal, { answers }: DecideReviewsInput): Promise<DecidedReviews> {
  assertSeesRuns(principal);
  const { user, role, auth } = principal;
  const results: DecidedReviews["results"] = [];
  for (const { review_id, ...answer } of answers) {
    const error = await getReview(principal, { review_id })
      .then(() => decideReview(review_id, { user, role, auth }, answer))
      .then(
        () => null,
        (cause: unknown) => {
          if (isAppError(cause)) return errorBody(cause);
          throw cause;
        },
      );
    const review = error?.error_code === "NOT_FOUND" ? null : await getReview(principal, { review_id });
    results.push({ review_id, review, error });
  }
  return { results };
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

type Decided = Pick<Wait, "label" | "status" | "outcome" | "terms" | "via" | "reviewer_name" | "reviewer_email" | "resolved_at">;

const atTime = (time: Date | null) => (time ? ` on ${time.toISOString().slice(0, 16).replace("T", " ")} UTC` : "");

/** Who decided what and when, for whoever comes too late. */
export function decidedSentence({ via, label, status, outcome, terms, reviewer_name, reviewer_email, resolved_at }: Decided): string {
  const when = atTime(resolved_at);
  if (status === "withdrawn") return `The review “${label}” was withdrawn${when}: its run ended before a decision.`;
  if (status === "expired") return `The review “${label}” timed out${when} and was rejected.`;
  if (via === "budget") return `The budget had room again${when}, so the run has gone on by itself.`;
  const email = reviewer_email ?? "a former member";
  const who = reviewer_name ? `${reviewer_name} (${email})` : email;
  const verdict = verdictOf({ status, outcome, terms });
  const own = termsOf({ terms }).choices.find(({ id }) => id === verdict.choice && id !== verdict.status);
  return own
    ? `${who} has already chosen “${choiceName(own)}” at the review “${label}”${when}.`
    : `${who} has already ${verdict.status} the review “${label}”${when}.`;
}

/** How many waiting reviews an answer lists. */
const LISTED = 50;

/**
 * Approves or rejects the review that an execution waits for.
 * @param texts takes the long texts out of the result
 * @throws AppError NOT_FOUND; VALIDATION_ERROR for a node that the graph does not have; BAD_REQUEST when several reviews
 *   wait and the input does not say which; CONFLICT when none waits, with who decided and when; PERMISSION_DENIED for a key
 *   without the scope `read`
 */
export async function approveExecution(principal: ProjectPrincipal, input: ApproveInput, texts?: DeferredTexts): Promise<Execution> {
  assertSeesRuns(principal);
  const { execution_id, decision, choice, comment, text, amount } = input;
  const { user, role, auth } = principal;
  await decideReview(await reviewMeant(principal, input), { user, role, auth }, { decision, choice, comment, text, amount });
  return getExecution(principal, { execution_id }, texts);
}

/** Id of the one waiting review that the input means. */
async function reviewMeant({ project }: ProjectPrincipal, { execution_id, node_id, iteration }: ApproveInput): Promise<string> {
  const execution = await findExecution({ project_id: project.id, execution_id }, { status: true, snapshot_id: true });
  const where = {
    execution_id,
    ...(node_id !== undefined && { node_id }),
    ...(iteration !== undefined && { iteration: iterationPath(iteration) }),
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
  throw invalidField("node_id", "There is no review with this id.", `node_id: this workflow has no review with the id “${node_id}”.`);
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
