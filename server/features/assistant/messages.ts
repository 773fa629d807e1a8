import type { AssistantMessage, Prisma } from "#prisma/generated/client.ts";
import { tellThread } from "#server/features/assistant/events.ts";
import { MessageContext, MessageMode, type ThreadEvent, type ThreadMessage } from "#server/features/assistant/schema.ts";
import { notFound } from "#server/platform/errors.ts";

// The states of a message: queued → working → done, failed or stopped; working → waiting for a person → queued again.

export type Tx = Prisma.TransactionClient;

/** A message that is not over. */
export const OPEN: Prisma.AssistantMessageWhereInput = { status: { in: ["queued", "working", "waiting"] } };

/** A message as viewers see it. */
export const messageDto = (row: AssistantMessage): ThreadMessage => ({
  id: row.id,
  content: row.content,
  mode: MessageMode.parse(row.mode),
  context: MessageContext.parse(row.context),
  status: row.status,
  answer: row.answer,
  error: row.error,
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cost: row.cost,
  created_at: row.created_at.toISOString(),
});

/**
 * Holds a thread for the rest of the transaction: what happens to its messages happens one after the other.
 * @throws AppError NOT_FOUND when it has been deleted
 */
export async function holdThread(tx: Tx, thread_id: string): Promise<void> {
  const rows = await tx.$queryRaw<unknown[]>`SELECT id FROM assistant_threads WHERE id = ${thread_id}::uuid FOR NO KEY UPDATE`;
  if (!rows.length) throw notFound("thread");
}

/** How a message ends. */
export type End = { status: "done" } | { status: "failed"; error: string } | { status: "stopped" };

const STOPPED = "Stopped.";

/**
 * Ends a message of a thread that is held. What it still waited for is rejected; what it has said and done stays.
 */
export async function endMessage(tx: Tx, { id, thread_id }: Pick<AssistantMessage, "id" | "thread_id">, end: End): Promise<void> {
  const waiting = await tx.assistantRequest.updateManyAndReturn({
    where: { message_id: id, status: "open" },
    data: { status: "rejected", decided_at: new Date() },
    select: { id: true },
  });
  const error = end.status === "failed" ? end.error : null;
  await tx.assistantMessage.update({ where: { id }, data: { status: end.status, error, ended_at: new Date(), lease_until: null } });
  await tellThread(tx, thread_id, [
    ...waiting.map((request): ThreadEvent => ({ type: "decided", message_id: id, id: request.id, outcome: "rejected" })),
    end.status === "done"
      ? { type: "message_done", message_id: id }
      : { type: "message_failed", message_id: id, error: error ?? STOPPED, stopped: end.status === "stopped" },
  ]);
}
