/** The line to the server: "open" delivers, "reconnecting" is down for now, "closed" ended with what was followed. */
export type LineState = "connecting" | "open" | "reconnecting" | "closed";

/** The part of EventSource that is used; tests hand in their own. */
export interface EventLine {
  readyState: number;
  addEventListener(type: string, listener: (event: { data?: string; lastEventId?: string }) => void): void;
  close(): void;
}

/** How a line is opened and waits are waited; tests hand in their own. */
export interface LineMeans {
  openLine?: (url: string) => EventLine;
  setTimer?: (run: () => void, ms: number) => unknown;
}

interface LineOptions<Event> extends LineMeans {
  /** Without the number of the last event, which is added. */
  path: string;
  /** Names of the events that are wanted. */
  types: readonly string[];
  /** Events after this number are wanted. */
  after: number;
  /** What the data of an event say; undefined when this version does not know such an event. */
  parse(data: unknown): Event | undefined;
  /** @param id NaN where ids are no numbers */
  onEvent(id: number, event: Event): void;
  onLine(state: LineState): void;
  /** Whether nothing comes after this event. */
  isLast?: (event: Event) => boolean;
}

const CLOSED = 2;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 15_000;

/**
 * Follows a numbered stream of the server. A broken line mends itself: the browser comes back with the number of the last event,
 * and where the browser gives up (an answer that is no stream) a new line is opened after a growing wait.
 * @returns a function that hangs up
 */
export function followLine<Event>({ path, types, parse, onEvent, onLine, isLast, ...options }: LineOptions<Event>): () => void {
  const openLine = options.openLine ?? ((url) => new EventSource(url) as unknown as EventLine);
  const setTimer = options.setTimer ?? ((run, ms) => setTimeout(run, ms));
  let after: number | string = options.after;
  let wait = FIRST_WAIT_MS;
  let line: EventLine | null = null;
  let isDone = false;

  const finish = () => {
    isDone = true;
    line?.close();
  };
  const open = () => {
    if (isDone) return;
    const current = openLine(`${path}${path.includes("?") ? "&" : "?"}last_event_id=${encodeURIComponent(after)}`);
    line = current;
    current.addEventListener("open", () => {
      wait = FIRST_WAIT_MS;
      if (!isDone) onLine("open");
    });
    current.addEventListener("error", () => {
      if (isDone || line !== current) return;
      onLine("reconnecting");
      if (current.readyState !== CLOSED) return;
      setTimer(open, wait);
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
    for (const type of types)
      current.addEventListener(type, ({ data, lastEventId }) => {
        if (isDone) return;
        const event = parse(jsonOf(data));
        if (event === undefined || !lastEventId) return;
        const id = Number(lastEventId);
        // The id of what is not kept is a text that says what one has: the latest counts.
        after = Number.isInteger(id) ? Math.max(Number(after), id) : lastEventId;
        // Over before the last event is handed on, which may start to follow something else.
        if (isLast?.(event)) finish();
        onEvent(id, event);
        if (isDone) onLine("closed");
      });
  };
  onLine("connecting");
  open();
  return finish;
}

function jsonOf(data: string | undefined): unknown {
  try {
    return JSON.parse(data ?? "");
  } catch {
    return undefined;
  }
}
