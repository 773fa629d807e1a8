import { db } from "#server/platform/db/client.ts";
import type { NumberedEvent } from "#server/platform/db/follow-events.ts";
import { withTexts } from "#server/runs/store/texts.ts";

/** Events read at a time. */
const BATCH = 100;

const fields = { seq: true, type: true, data: true } as const;

async function whole(execution_id: string, events: NumberedEvent[]): Promise<NumberedEvent[]> {
  const data = await withTexts(
    execution_id,
    events.map((event) => event.data),
  );
  return events.map((event, index) => ({ ...event, data: data[index] }));
}

/** The next events of an execution after number `after`, with their long texts. */
export async function eventsAfter(execution_id: string, after: number): Promise<NumberedEvent[]> {
  const where = { execution_id, seq: { gt: after } };
  return whole(execution_id, await db().executionEvent.findMany({ where, orderBy: { seq: "asc" }, take: BATCH, select: fields }));
}

/** The latest event of an execution. */
export async function lastEvent(execution_id: string): Promise<NumberedEvent | undefined> {
  const event = await db().executionEvent.findFirst({ where: { execution_id }, orderBy: { seq: "desc" }, select: fields });
  return event ? (await whole(execution_id, [event]))[0] : undefined;
}

/** Number of the first piece that a node which still runs has told; undefined when none is there. */
export async function firstPiece(execution_id: string): Promise<number | undefined> {
  const where = { execution_id, type: "node_delta" };
  return (await db().executionEvent.findFirst({ where, orderBy: { seq: "asc" }, select: { seq: true } }))?.seq;
}
