import { db, pool } from "#server/platform/db/client.ts";
import type { NumberedEvent } from "#server/platform/db/follow-events.ts";
import { wholeBytes, withTexts } from "#server/runs/store/texts.ts";

/** Events read at a time, and bytes that they may have together, unless the first one alone has more. */
const BATCH = 100;
const BATCH_BYTES = 256 * 1024;

const fields = { seq: true, type: true, data: true } as const;

async function whole(execution_id: string, events: NumberedEvent[]): Promise<NumberedEvent[]> {
  const data = await withTexts(
    execution_id,
    events.map((event) => event.data),
  );
  return events.map((event, index) => ({ ...event, data: data[index] }));
}

const LONG_TEXT = `coalesce(${wholeBytes("$1", "coalesce(next.data->>'output_hash', next.data->>'display_value_hash')")}, 0)`;
const EVENTS = `
  WITH next AS (
    SELECT seq, type, data FROM execution_events WHERE execution_id = $1 AND seq > $2 ORDER BY seq LIMIT ${BATCH}
  ), measured AS (
    SELECT next.*, row_number() OVER (ORDER BY seq) AS position, sum(octet_length(data::text) + ${LONG_TEXT}) OVER (ORDER BY seq) AS bytes
    FROM next
  )
  SELECT seq, type, data FROM measured WHERE position = 1 OR bytes <= ${BATCH_BYTES} ORDER BY seq`;

/** The next events of an execution after number `after`, with their long texts. */
export async function eventsAfter(execution_id: string, after: number): Promise<NumberedEvent[]> {
  const { rows } = await pool().query<NumberedEvent>({ name: "events-after", text: EVENTS, values: [execution_id, after] });
  return whole(execution_id, rows);
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
