import { followEvents, type NumberedEvent } from "#server/platform/db/follow-events.ts";
import { isTerminalEvent } from "#server/runs/event-schema.ts";
import { eventsAfter, lastEvent } from "#server/runs/store/events.ts";
import { executionStatus, findExecution, type RunScope } from "#server/runs/store/executions.ts";
import { isFinal } from "#server/shared/execution-status.ts";

/**
 * Every event of an execution after `after`, then new ones as they are written, until the terminal one. Yields "idle"
 * when nothing came for `heartbeatMs`, so that the line can be kept open. Only reads: a viewer never touches the run.
 * @throws AppError NOT_FOUND, before anything is yielded
 */
export async function followExecution(
  execution: RunScope & { execution_id: string },
  after: number,
  signal: AbortSignal,
  heartbeatMs: number,
): Promise<AsyncGenerator<NumberedEvent | "idle">> {
  await findExecution(execution, { id: true });
  const { execution_id: id } = execution;
  const end = {
    isLast: ({ type }: NumberedEvent) => isTerminalEvent(type),
    isOver: async () => isFinal(await executionStatus(id)),
    last: () => lastEvent(id),
  };
  return followEvents({ channel: "treadle_execution", id, read: (position) => eventsAfter(id, position), end }, after, signal, heartbeatMs);
}
