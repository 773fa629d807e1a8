import type { StoredEvent } from "#server/services/executions/follow-execution.ts";

const encoder = new TextEncoder();

/** One event in the wire format of server-sent events (WHATWG HTML, section 9.2.5); "idle" becomes a comment. */
const encoded = (event: StoredEvent | "idle"): string =>
  event === "idle" ? ": keep-alive\n\n" : `id: ${event.seq}\nevent: ${event.type}\ndata: ${JSON.stringify(event.data)}\n\n`;

/**
 * A response that streams `events` until they end or the viewer goes away. The first event is awaited before the
 * response exists, so that an error at the start is still answered with its status.
 */
export async function sseResponse(events: AsyncGenerator<StoredEvent | "idle">): Promise<Response> {
  let first: IteratorResult<StoredEvent | "idle"> | undefined = await events.next();
  const stream = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = first ?? (await events.next());
      first = undefined;
      if (done) controller.close();
      else controller.enqueue(encoder.encode(encoded(value)));
    },
    async cancel() {
      await events.return(undefined);
    },
  });
  return new Response(stream, {
    headers: { "content-type": "text/event-stream; charset=utf-8", "cache-control": "no-store, no-transform", "x-accel-buffering": "no" },
  });
}
