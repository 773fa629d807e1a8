import { followLine, type LineMeans, type LineState } from "#components/event-line.ts";
import { ExecutionEvent, type ExecutionEventType, isTerminalEvent } from "#server/runs/event-schema.ts";

export interface RunStreamOptions extends LineMeans {
  executionId: string;
  /** Events after this number are wanted. */
  after: number;
  onEvent(id: number, event: ExecutionEvent): void;
  onLine(state: LineState): void;
}

const types = ExecutionEvent.options.map((option) => option.shape.type.value) as ExecutionEventType[];

/**
 * Follows an execution until its terminal event.
 * @returns a function that hangs up
 */
export const followRun = ({ executionId, ...options }: RunStreamOptions): (() => void) =>
  followLine({
    ...options,
    path: `/api/v1/bridge/executions/${executionId}/stream`,
    types,
    parse: (data) => ExecutionEvent.safeParse(data).data,
    isLast: ({ type }) => isTerminalEvent(type),
  });
