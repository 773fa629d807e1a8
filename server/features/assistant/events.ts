import { z } from "zod";
import type { Prisma } from "#prisma/generated/client.ts";
import { ThreadEvent } from "#server/features/assistant/schema.ts";
import { db } from "#server/platform/db/client.ts";
import { followEvents, type NumberedEvent } from "#server/platform/db/follow-events.ts";

/** Events read at a time. */
const BATCH = 500;

/**
 * Adds events to a thread, numbered on from its last one. Whoever follows it hears of them when the transaction is through.
 * @param within the transaction that makes true what they tell
 */
export async function tellThread(
  within: Pick<Prisma.TransactionClient, "$executeRaw">,
  thread_id: string,
  events: readonly ThreadEvent[],
): Promise<void> {
  if (!events.length) return;
  await within.$executeRaw`
    WITH thread AS (
      UPDATE assistant_threads SET last_seq = last_seq + ${events.length}, updated_at = now() WHERE id = ${thread_id}::uuid RETURNING last_seq
    ), told AS (
      INSERT INTO assistant_events (thread_id, seq, message_id, type, data)
      SELECT ${thread_id}::uuid, thread.last_seq - ${events.length} + e.n::int, (e.data->>'message_id')::uuid, e.data->>'type', e.data
      FROM thread, jsonb_array_elements(${JSON.stringify(z.array(ThreadEvent).parse(events))}::jsonb) WITH ORDINALITY AS e(data, n)
    )
    SELECT pg_notify('treadle_thread', ${thread_id}) FROM thread`;
}

/** Has whoever follows a thread look at it again. */
export const tellFollowers = (within: Pick<Prisma.TransactionClient, "$executeRaw">, thread_id: string) =>
  within.$executeRaw`SELECT pg_notify('treadle_thread', ${thread_id})`;

async function eventsAfter(thread_id: string, after: number): Promise<NumberedEvent[]> {
  const where = { thread_id, seq: { gt: after } };
  const select = { seq: true, type: true, data: true } as const;
  return db().assistantEvent.findMany({ where, orderBy: { seq: "asc" }, take: BATCH, select });
}

/** Every event of a thread after number `after`, then new ones as they are written, until the thread is deleted. */
export const followThread = (
  thread_id: string,
  after: number,
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<NumberedEvent | "idle"> =>
  followEvents(
    {
      channel: "treadle_thread",
      id: thread_id,
      read: (position) => eventsAfter(thread_id, position),
      end: { isOver: async () => (await db().assistantThread.count({ where: { id: thread_id } })) === 0 },
    },
    after,
    signal,
    heartbeatMs,
  );
