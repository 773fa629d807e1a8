import type { Prisma } from "#prisma/generated/client.ts";
import { decideReview } from "#server/features/reviews/decide-review.ts";
import { decidedSentence } from "#server/features/reviews/decided-sentence.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { type Execution, isFinal } from "#server/runs/schema.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { longTexts } from "#server/runs/waits/review-texts.ts";
import type { ApproveInput } from "#server/runs/waits/schema.ts";
import { Graph } from "#server/workflow/schema.ts";

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
  if (!isUuid(execution_id)) throw notFound("execution");
  const execution = await db().execution.findFirst({
    where: { id: execution_id, project_id: project.id },
    select: { status: true, snapshot_id: true },
  });
  if (!execution) throw notFound("execution");
  const where = {
    execution_id,
    reason: "review" as const,
    ...(node_id !== undefined && { node_id }),
    ...(iteration !== undefined && { iteration }),
  };
  const waiting = await db().wait.findMany({
    where: { ...where, status: "waiting" },
    omit: longTexts,
    orderBy: { id: "asc" },
    take: LISTED,
  });
  const [review, ...others] = waiting;
  if (review && others.length === 0) return review.id;
  if (review) throw ambiguous(waiting);
  if (node_id !== undefined) await assertReviewNode(execution.snapshot_id, node_id);
  throw await noneWaits(where, execution.status);
}

type Waiting = Prisma.WaitGetPayload<{ omit: typeof longTexts }>;

function ambiguous(waiting: Waiting[]): AppError {
  const isOneNode = new Set(waiting.map((review) => review.node_id)).size === 1;
  const path = isOneNode ? "iteration" : "node_id";
  const placeOf = ({ node_id, label, iteration }: Waiting) =>
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
  const { graph } = await db().workflowSnapshot.findUniqueOrThrow({ where: { id: snapshot_id }, select: { graph: true } });
  if (Graph.parse(graph).nodes.some((node) => node.id === node_id && node.type === "humanLoopNode")) return;
  throw new AppError("VALIDATION_ERROR", `node_id: this workflow has no review with the id “${node_id}”.`, {
    errors: [{ path: "node_id", message: "There is no review with this id." }],
  });
}

async function noneWaits(where: Prisma.WaitWhereInput, status: Execution["status"]): Promise<AppError> {
  const last =
    (await db().wait.findFirst({
      where: { ...where, status: { in: ["resolved", "expired"] } },
      omit: longTexts,
      orderBy: { resolved_at: "desc" },
    })) ?? (await db().wait.findFirst({ where: { ...where, status: "withdrawn" }, omit: longTexts }));
  if (last) return new AppError("CONFLICT", decidedSentence(last));
  if (isFinal(status)) return new AppError("CONFLICT", `This execution has already ended: it is ${status}.`);
  const isNamed = where.node_id !== undefined || where.iteration !== undefined;
  return new AppError("CONFLICT", `This execution is ${status} and does not wait for ${isNamed ? "that" : "a"} review.`);
}
