import { EventSourceParserStream } from "eventsource-parser/stream";

/** One event of a stream, as it came over the wire. */
export interface WireEvent {
  id: string;
  event: string;
  data: Record<string, unknown>;
}

/**
 * Reads server-sent events until the stream ends, or until `enough` says so; then the line is cut, as a viewer does.
 * @throws Error when the answer is not an event stream
 */
export async function readStream(
  url: string,
  headers: Record<string, string> = {},
  enough: (event: WireEvent) => boolean = () => false,
): Promise<WireEvent[]> {
  const cut = new AbortController();
  return readEvents(await fetch(url, { headers, signal: cut.signal }), (event) => {
    if (!enough(event)) return false;
    cut.abort();
    return true;
  });
}

/**
 * The events of an answer up to its end, or until `isEnough`.
 * @throws Error when the answer is not an event stream
 */
export async function readEvents(response: Response, isEnough: (event: WireEvent) => boolean = () => false): Promise<WireEvent[]> {
  if (!response.body || !response.headers.get("content-type")?.startsWith("text/event-stream"))
    throw new Error(`not a stream: ${response.status} ${await response.text()}`);
  const events: WireEvent[] = [];
  for await (const { id = "", event, data } of response.body
    .pipeThrough(new TextDecoderStream())
    .pipeThrough(new EventSourceParserStream())) {
    if (!event) continue;
    const one = { id, event, data: JSON.parse(data) };
    events.push(one);
    if (isEnough(one)) return events;
  }
  return events;
}

const TOLD: Record<string, string> = { node_start: "start", node_complete: "complete", node_failed: "failed", node_skipped: "skipped" };

/** What events tell of nodes, in their order: `start a`, `skipped inside 0.2`. */
export const nodesTold = (events: readonly WireEvent[]): string[] =>
  events.flatMap(({ event, data: { node_id, iteration } }) =>
    TOLD[event] ? [[TOLD[event], node_id, iteration].filter(Boolean).join(" ")] : [],
  );
