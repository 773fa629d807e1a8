/** An event of a stream, with a number, or a text without line breaks, by which a viewer can tell where it was. */
export interface StreamEvent {
  seq: number | string;
  type: string;
  data: unknown;
}

const encoder = new TextEncoder();

/** What a stream begins with: a comment, so that headers reach the viewer at once, and how long to wait before coming back. */
const GREETING = ": open\nretry: 2000\n\n";

/** One event in the wire format of server-sent events (WHATWG HTML, section 9.2.5); "idle" becomes a comment. */
const encoded = (event: StreamEvent | "idle"): string =>
  event === "idle" ? ": keep-alive\n\n" : `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;

/**
 * A response that streams `events` until they end or the viewer goes away.
 * @param onGone called when the viewer goes away, also while the next event is awaited
 */
export function sseResponse(events: AsyncGenerator<StreamEvent | "idle">, onGone?: () => void): Response {
  const stream = new ReadableStream<Uint8Array>({
    start: (controller) => controller.enqueue(encoder.encode(GREETING)),
    async pull(controller) {
      const { value, done } = await events.next();
      if (done) controller.close();
      else controller.enqueue(encoder.encode(encoded(value)));
    },
    async cancel() {
      onGone?.();
      await events.return(undefined);
    },
  });
  return new Response(stream, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store, no-transform", "x-accel-buffering": "no" },
  });
}
