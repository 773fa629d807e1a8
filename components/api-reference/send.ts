import type { BuiltRequest } from "#components/api-reference/request.ts";
import { readEvents } from "#components/read-events.ts";

/** One event of a stream, as it came. */
export interface StreamEvent {
  id: string;
  event: string;
  /** JSON, as text. */
  data: string;
}

export interface Answer {
  status: number;
  statusText: string;
  headers: [string, string][];
  /** Milliseconds from the click to the end of the headers. */
  ms: number;
  /** Undefined for a stream. */
  text?: string;
  isStream: boolean;
}

export interface SendOptions {
  /** An API key; without one the browser's session is used. */
  key: string;
  /** Slug of the project, or nothing. */
  project: string;
  /** A form with files, in place of the request's own body. */
  form?: FormData;
  signal: AbortSignal;
  /** Called with the status and headers as soon as they are there, before a stream has ended. */
  onAnswer(answer: Answer): void;
  onEvent(event: StreamEvent): void;
}

const BASE = "/api/v1";

/** How much of an answer is shown, in characters. */
const MAX_SHOWN_LENGTH = 200_000;

/** JSON with line breaks; anything else as it is, cut where it is too long to show. */
function readable(text: string): string {
  let shown = text;
  try {
    shown = JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    // No JSON.
  }
  return shown.length > MAX_SHOWN_LENGTH
    ? `${shown.slice(0, MAX_SHOWN_LENGTH)}\n… (${shown.length.toLocaleString("en")} characters in all)`
    : shown;
}

/**
 * Sends a call to this server and tells of the answer and of each event.
 * @throws what fetch throws: no connection, or the signal's abort
 */
export async function send(request: BuiltRequest, { key, project, form, signal, onAnswer, onEvent }: SendOptions): Promise<void> {
  const started = performance.now();
  const response = await fetch(BASE + request.path, {
    method: request.method,
    headers: { ...request.headers, ...(key && { Authorization: `Bearer ${key}` }), ...(project && { "X-Project-Slug": project }) },
    credentials: key ? "omit" : "same-origin",
    cache: "no-store",
    signal,
    ...(form ? { body: form } : request.body !== undefined && { body: request.body }),
  });
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") ?? false;
  const answer: Answer = {
    status: response.status,
    statusText: response.statusText,
    headers: [...response.headers].sort(([a], [b]) => a.localeCompare(b)),
    ms: Math.round(performance.now() - started),
    isStream,
  };
  if (!isStream) {
    onAnswer({ ...answer, text: readable(await response.text()) });
    return;
  }
  onAnswer(answer);
  if (!response.body) return;
  for await (const { id = "", event = "message", data } of readEvents(response.body)) onEvent({ id, event, data });
}
