import type { AssistantRequest } from "#prisma/generated/client.ts";
import { tellThread } from "#server/features/assistant/events.ts";
import { holdThread } from "#server/features/assistant/messages.ts";
import { withoutSecrets } from "#server/features/assistant/pasted-secrets.ts";
import type { RequestKind } from "#server/features/assistant/schema.ts";
import { askForWork } from "#server/features/assistant/threads.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { AppError, notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";

type Decision = { outcome: "answered"; answer: string } | { outcome: "approved" | "rejected" };

/**
 * Decides a request of the caller's own thread, and has its message go on.
 * @throws AppError NOT_FOUND, also for a request of somebody else's thread; CONFLICT when it was decided before
 */
async function decide(principal: ProjectPrincipal, kind: RequestKind, id: string, decision: Decision): Promise<void> {
  const { user, project } = principal;
  const where = { id, kind, thread: { user_id: user.id, project_id: project.id } };
  const request: AssistantRequest | null = isUuid(id) ? await db().assistantRequest.findFirst({ where }) : null;
  if (!request) throw notFound(kind);
  const { thread_id, message_id } = request;
  const { outcome, answer } = { answer: undefined, ...decision };
  await db().$transaction(async (tx) => {
    await holdThread(tx, thread_id);
    const { count } = await tx.assistantRequest.updateMany({
      where: { id, status: "open" },
      data: { status: outcome, answer: answer ?? null, decided_at: new Date() },
    });
    if (count === 0) throw new AppError("CONFLICT", `This ${kind} is not open any more: it was decided, or its message has ended.`);
    await tx.assistantMessage.updateMany({ where: { id: message_id, status: "waiting" }, data: { status: "queued" } });
    await tellThread(tx, thread_id, [{ type: "decided", message_id, id, outcome, ...(answer !== undefined && { answer }) }]);
  });
  await askForWork({ id: thread_id, project_id: project.id }, id);
}

/**
 * Answers a question of the assistant.
 * @throws AppError NOT_FOUND; CONFLICT when it was answered before, or its message has ended
 */
export async function answerQuestion(
  principal: ProjectPrincipal,
  { question_id, answer }: { question_id: string; answer: string },
): Promise<{ id: string; outcome: "answered" }> {
  const text = await withoutSecrets(principal.project.id, answer);
  await decide(principal, "question", question_id, { outcome: "answered", answer: text });
  return { id: question_id, outcome: "answered" };
}

/**
 * Lets the assistant do something, or not.
 * @throws AppError NOT_FOUND; CONFLICT when it was decided before, or its message has ended
 */
export async function decideConfirmation(
  principal: ProjectPrincipal,
  { confirmation_id, decision }: { confirmation_id: string; decision: "approved" | "rejected" },
): Promise<{ id: string; outcome: "approved" | "rejected" }> {
  await decide(principal, "confirmation", confirmation_id, { outcome: decision });
  return { id: confirmation_id, outcome: decision };
}
