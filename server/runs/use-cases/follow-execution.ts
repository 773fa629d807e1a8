import { Bell } from "#server/platform/bell.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { isTerminalEvent } from "#server/runs/event-schema.ts";
import { isFinal } from "#server/runs/schema.ts";
import { eventsAfter, lastEvent, type StoredEvent } from "#server/runs/store/events.ts";
import { executionStatus, findExecution } from "#server/runs/store/executions.ts";

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
  await findExecution(execution, { id: true });
  return events(execution, after, signal, heartbeatMs);
}

async function* events(
  { execution_id }: { execution_id: string },
  after: number,
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<StoredEvent | "idle"> {
  const bell = new Bell(signal);
  const stop = await subscribe("treadle_execution", execution_id, () => bell.ring());
  try {
    for (let position = after; !signal.aborted; ) {
      const found = await eventsAfter(execution_id, position);
      for (const event of found) {
        yield event;
        position = event.seq;
        if (isTerminalEvent(event.type)) return;
      }
      if (found.length) continue;
      const status = await executionStatus(execution_id);
      if (isFinal(status)) {
        // It may have ended between the two reads; else the viewer has seen everything.
        const rest = await eventsAfter(execution_id, position);
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
