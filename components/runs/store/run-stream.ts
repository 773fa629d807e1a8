import { ExecutionEvent, type ExecutionEventType, isTerminalEvent } from "#server/runs/event-schema.ts";

/** The line to the server: "open" delivers, "reconnecting" is down for now, "closed" ended with the run. */
export type LineState = "connecting" | "open" | "reconnecting" | "closed";

/** The part of EventSource that is used; tests hand in their own. */
export interface EventLine {
  readyState: number;
  addEventListener(type: string, listener: (event: { data?: string; lastEventId?: string }) => void): void;
  close(): void;
}

export interface RunStreamOptions {
  executionId: string;
  /** Events after this number are wanted. */
  after: number;
  onEvent(id: number, event: ExecutionEvent): void;
  onLine(state: LineState): void;
  openLine?: (url: string) => EventLine;
  setTimer?: (run: () => void, ms: number) => unknown;
}

const CLOSED = 2;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;
const eventTypes = ExecutionEvent.options.map((option) => option.shape.type.value) as ExecutionEventType[];

/**
 * Follows an execution until its terminal event. A broken line mends itself: the browser comes back with the number of
 * the last event, and where the browser gives up (an answer that is no stream) a new line is opened after a growing wait.
 * @returns a function that hangs up
 */
export function followRun(options: RunStreamOptions): () => void {
  const openLine = options.openLine ?? ((url) => new EventSource(url) as unknown as EventLine);
  const setTimer = options.setTimer ?? ((run, ms) => setTimeout(run, ms));
  let after = options.after;
  let wait = FIRST_WAIT_MS;
  let line: EventLine | null = null;
  let isDone = false;

  const finish = () => {
    isDone = true;
    line?.close();
  };
  const open = () => {
    if (isDone) return;
    const current = openLine(`/api/v1/bridge/executions/${options.executionId}/stream?last_event_id=${after}`);
    line = current;
    current.addEventListener("open", () => {
      wait = FIRST_WAIT_MS;
      if (!isDone) options.onLine("open");
    });
    current.addEventListener("error", () => {
      if (isDone || line !== current) return;
      options.onLine("reconnecting");
      if (current.readyState !== CLOSED) return;
      setTimer(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
    for (const type of eventTypes)
      current.addEventListener(type, ({ data, lastEventId }) => {
        if (isDone) return;
        const event = read(data);
        const id = Number(lastEventId);
        if (!event || !Number.isInteger(id)) return;
        after = Math.max(after, id);
        // Over before the last event is handed on, which may start to follow another run.
        if (isTerminalEvent(event.type)) finish();
        options.onEvent(id, event);
        if (isDone) options.onLine("closed");
      });
  };
  options.onLine("connecting");
  open();
  return finish;
}

/** An event of a kind that this version does not know, or that cannot be read, is passed over. */
function read(data: string | undefined): ExecutionEvent | null {
  try {
    const parsed = ExecutionEvent.safeParse(JSON.parse(data ?? ""));
    return parsed.success ? parsed.data : null;
  } catch {
    return null;
  }
}
