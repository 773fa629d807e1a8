import { Bell } from "#server/platform/bell.ts";
import { db } from "#server/platform/db/client.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { notFound } from "#server/platform/errors.ts";
import { isUuid } from "#server/platform/new-id.ts";
import { isTerminalEvent } from "#server/runs/event-schema.ts";
import { isFinal } from "#server/runs/schema.ts";
import { withTexts } from "#server/runs/store/texts.ts";

/** Events read at a time. */
const BATCH = 100;

export interface StoredEvent {
  seq: number;
  type: string;
  data: unknown;
}

async function whole(execution_id: string, events: StoredEvent[]): Promise<StoredEvent[]> {
  const data = await withTexts(
    execution_id,
    events.map((event) => event.data),
  );
  return events.map((event, index) => ({ ...event, data: data[index] }));
}

async function readAfter(execution_id: string, after: number): Promise<StoredEvent[]> {
  const events = await db().executionEvent.findMany({
    where: { execution_id, seq: { gt: after } },
    orderBy: { seq: "asc" },
    take: BATCH,
    select: { seq: true, type: true, data: true },
  });
  return whole(execution_id, events);
}

/** The terminal event once more, for a viewer that has seen it: every stream ends with exactly one. */
async function lastEvent(execution_id: string): Promise<StoredEvent | undefined> {
  const last = { where: { execution_id }, orderBy: { seq: "desc" }, select: { seq: true, type: true, data: true } } as const;
  const event = await db().executionEvent.findFirst(last);
  return event ? (await whole(execution_id, [event]))[0] : undefined;
}

/**
 * Every event of an execution after `after`, then new ones as they are written, until the terminal one. Yields "idle"
 * when nothing came for `heartbeatMs`, so that the line can be kept open. Only reads: a viewer never touches the run.
 * @throws AppError NOT_FOUND, before anything is yielded
 */
export async function followExecution(
  execution: { project_id: string; execution_id: string },
  after: number,
  signal: AbortSignal,
  heartbeatMs: number,
): Promise<AsyncGenerator<StoredEvent | "idle">> {
  const { project_id, execution_id } = execution;
  const where = { id: execution_id, project_id };
  if (!isUuid(execution_id) || !(await db().execution.findFirst({ where, select: { id: true } }))) throw notFound("execution");
  return events(execution, after, signal, heartbeatMs);
}

async function* events(
  { project_id, execution_id }: { project_id: string; execution_id: string },
  after: number,
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<StoredEvent | "idle"> {
  const where = { id: execution_id, project_id };
  const bell = new Bell(signal);
  const stop = await subscribe("treadle_execution", execution_id, () => bell.ring());
  try {
    for (let position = after; !signal.aborted; ) {
      const found = await readAfter(execution_id, position);
      for (const event of found) {
        yield event;
        position = event.seq;
        if (isTerminalEvent(event.type)) return;
      }
      if (found.length) continue;
      const row = await db().execution.findFirst({ where, select: { status: true } });
      if (!row) return;
      if (isFinal(row.status)) {
        // It may have ended between the two reads; else the viewer has seen everything.
        const rest = await readAfter(execution_id, position);
        const last = rest.length ? undefined : await lastEvent(execution_id);
        if (last) yield last;
        if (rest.length) continue;
        return;
      }
      const started = Date.now();
      await bell.rung(heartbeatMs);
      if (!signal.aborted && Date.now() - started >= heartbeatMs) yield "idle";
    }
  } finally {
    stop();
  }
}
