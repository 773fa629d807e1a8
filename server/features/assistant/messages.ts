import type { AssistantMessage, AssistantThread, Prisma } from "#prisma/generated/client.ts";
import { tellThread } from "#server/features/assistant/events.ts";
import { type FailureCode, MessageContext, MessageMode, type ThreadEvent, type ThreadMessage } from "#server/features/assistant/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { finds } from "#server/platform/db/sweep.ts";
import { notFound } from "#server/platform/errors.ts";

// The states of a message: queued → working → done, failed or stopped; working → waiting for a person → queued again.

export type Tx = Prisma.TransactionClient;

/** How long a message counts as being worked on without a sign of life, in seconds. */
export const LEASE_SECONDS = 30;

/** How many messages of one person are worked on at a time in a project: whoever else is in it finds a place, too. */
const MOST_AT_WORK = 2;

/** How many are looked after at a time. */
const BATCH = 200;

/** A message that is not over. */
export const OPEN: Prisma.AssistantMessageWhereInput = { status: { in: ["queued", "working", "waiting"] } };

/** A message as viewers see it. */
export const messageDto = (row: Omit<AssistantMessage, "conversation">): ThreadMessage => ({
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
export type End = { status: "done" } | { status: "failed"; code: FailureCode; error: string } | { status: "stopped" };

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
  const { code, error } = end.status === "failed" ? end : { code: "stopped" as const, error: null };
  await tx.assistantMessage.update({ where: { id }, data: { status: end.status, error, ended_at: new Date(), lease_until: null } });
  await tellThread(tx, thread_id, [
    ...waiting.map((request): ThreadEvent => ({ type: "decided", message_id: id, id: request.id, outcome: "rejected" })),
    end.status === "done"
      ? { type: "message_done", message_id: id }
      : { type: "message_failed", message_id: id, code, error: error ?? STOPPED, stopped: end.status === "stopped" },
  ]);
}

/** Whether somebody works on a message. */
export const isAlive = ({ status, lease_until }: Pick<AssistantMessage, "status" | "lease_until">): boolean =>
  status === "working" && lease_until !== null && lease_until > new Date();

const CUT_OFF =
  "This was cut off: the service was restarted, or the process that worked on it ended. What was said and done until then is kept. Say “Go on” to have it continued.";
/** How a message ends whose work broke off. */
export const cutOff: End = { status: "failed", code: "cut_off", error: CUT_OFF };

/** A message to be worked on, with its thread. */
export interface Claim {
  thread: AssistantThread;
  message: AssistantMessage;
}

/** Whether as many threads of a person are worked on as may be; holds the count for the rest of the transaction. */
async function isAtWork(tx: Tx, { project_id, user_id }: Pick<AssistantThread, "project_id" | "user_id">): Promise<boolean> {
  await tx.$queryRaw`SELECT 1 AS held FROM (SELECT pg_advisory_xact_lock(hashtextextended(${`assistant ${project_id} ${user_id}`}, 0))) AS lock`;
  const where = { status: "working", lease_until: { gt: new Date() }, thread: { project_id, user_id } } as const;
  return (await tx.assistantMessage.count({ where })) >= MOST_AT_WORK;
}

/** The thread of a person that has waited longest for a place; undefined when none waits. */
export async function heldBack({ project_id, user_id }: AssistantThread): Promise<AssistantThread | undefined> {
  const messages = { some: { status: "queued" as const }, none: { status: { in: ["working" as const, "waiting" as const] } } };
  return (await db().assistantThread.findFirst({ where: { project_id, user_id, messages }, orderBy: { updated_at: "asc" } })) ?? undefined;
}

/**
 * Takes the next message of a thread, if nobody works on the thread, no person is waited for, and its person has a place. What
 * was begun by a process that gives no sign of life any more is ended as cut off.
 */
export async function claimMessage(thread_id: string): Promise<Claim | undefined> {
  return db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT id FROM assistant_threads WHERE id = ${thread_id}::uuid FOR NO KEY UPDATE`;
    const thread = await tx.assistantThread.findUnique({ where: { id: thread_id } });
    if (!thread) return undefined;
    for (;;) {
      const first = await tx.assistantMessage.findFirst({ where: { thread_id, ...OPEN }, orderBy: { id: "asc" } });
      if (!first || first.status === "waiting" || isAlive(first)) return undefined;
      if (first.status === "working") {
        await endMessage(tx, first, cutOff);
        continue;
      }
      if (await isAtWork(tx, thread)) return undefined;
      const now = new Date();
      const lease_until = new Date(now.getTime() + LEASE_SECONDS * 1000);
      const message = await tx.assistantMessage.update({
        where: { id: first.id },
        data: { status: "working", begun_at: now, lease_until },
      });
      if (!first.begun_at) await tellThread(tx, thread_id, [{ type: "message_started", message_id: first.id }]);
      return { thread, message };
    }
  });
}

/**
 * Ends messages whose work broke off.
 * @param isAlone no other process can be alive: then all that are under way are meant, and those that wait for a person, too
 */
export async function endCutOff(isAlone = false): Promise<void> {
  const where: Prisma.AssistantMessageWhereInput = isAlone
    ? { status: { in: ["working", "waiting"] } }
    : { status: "working", lease_until: { lt: new Date() } };
  const select = { id: true, thread_id: true } as const;
  for (let found = BATCH; found === BATCH; ) {
    const broken = await db().assistantMessage.findMany({ where, select, take: BATCH });
    found = broken.length;
    for (const { id, thread_id } of broken)
      await db().$transaction(async (tx) => {
        await holdThread(tx, thread_id);
        const message = await tx.assistantMessage.findFirst({ where: { ...where, id } });
        if (message) await endMessage(tx, message, cutOff);
      });
  }
}

/** Whether any message is queued or worked on; see `Sweep`. */
export const HAS_WORK = finds("SELECT FROM assistant_messages WHERE status IN ('queued', 'working')");

/** Threads whose next message has waited for so long without that anybody took it, in milliseconds. */
export const LOST_MS = 20_000;

/** The threads on which work should go on, and does not: an event that was not sent, a process that has died. */
export async function forgottenThreads(): Promise<{ id: string; project_id: string }[]> {
  return db().assistantThread.findMany({
    where: {
      messages: {
        some: { status: "queued", created_at: { lt: new Date(Date.now() - LOST_MS) } },
        none: { status: { in: ["working", "waiting"] } },
      },
    },
    select: { id: true, project_id: true },
    take: BATCH,
  });
}
