import { Bell } from "#server/platform/bell.ts";
import { type Channel, subscribe } from "#server/platform/db/notify.ts";

/** An event as it is kept, with its number in what it belongs to. */
export interface NumberedEvent {
  seq: number;
  type: string;
  data: unknown;
}

/** What somebody follows by its events. */
interface Followed {
  /** Where it is told that there are new ones, with this id. */
  channel: Channel;
  id: string;
  /** The next events after a number, in their order; no more than are read at a time. */
  read(after: number): Promise<NumberedEvent[]>;
  /** Left out, it never ends. */
  end?: {
    /** Left out where no event is the last one. */
    isLast?(event: NumberedEvent): boolean;
    /** Asked when nothing new was found: whether it has ended. */
    isOver(): Promise<boolean>;
    /** Its last event, for whoever has seen that already. */
    last?(): Promise<NumberedEvent | undefined>;
  };
}

/**
 * Every event after number `after`, then new ones as they are written, until the last one. Yields "idle" when nothing came
 * for `heartbeatMs`, so that the line can be kept open.
 */
export async function* followEvents(
  { channel, id, read, end }: Followed,
  after: number,
  signal: AbortSignal,
  heartbeatMs: number,
): AsyncGenerator<NumberedEvent | "idle"> {
  const bell = new Bell(signal);
  const stop = await subscribe(channel, id, () => bell.ring());
  try {
    for (let position = after; !signal.aborted; ) {
      const found = await read(position);
      for (const event of found) {
        yield event;
        position = event.seq;
        if (end?.isLast?.(event)) return;
      }
      if (found.length) continue;
      if (await end?.isOver()) {
        // It may have ended between the two reads; else the viewer has seen everything.
        if ((await read(position)).length) continue;
        const last = await end?.last?.();
        if (last) yield last;
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
