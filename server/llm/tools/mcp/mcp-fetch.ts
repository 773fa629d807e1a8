import { AsyncLocalStorage } from "node:async_hooks";
import type { McpEndpoint } from "#server/llm/tools/mcp/mcp-endpoint.ts";
import { ConnectionLost } from "#server/llm/tools/mcp/mcp-errors.ts";
import { AnswerTooLong } from "#server/platform/net/answer-too-long.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";

/** Longest answer, and longest event stream of one connection, that is read, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** How long after the end of an answer its last event may still be on its way through the parser. */
const GRACE_MS = 250;

/** One request of ours that waits for its answer. */
export interface Awaited {
  fail(error: Error): void;
}

/** Which request a `fetch` belongs to: the transports of the SDK do not say, the asynchronous context does. */
export const awaitedHere = new AsyncLocalStorage<Awaited>();

/** The body with its end watched: `ended` is called once, with the error if there was one. */
function watched(body: ReadableStream<Uint8Array>, onChunk: (chunk: Uint8Array) => void, ended: (error?: Error) => void): ReadableStream {
  const reader = body.getReader();
  let bytes = 0;
  return new ReadableStream({
    async pull(controller) {
      try {
        const { done, value } = await reader.read();
        if (done) {
          ended();
          return controller.close();
        }
        bytes += value.length;
        if (bytes > MAX_BYTES) throw new AnswerTooLong(MAX_BYTES);
        onChunk(value);
        controller.enqueue(value);
      } catch (error) {
        void reader.cancel().catch(() => undefined);
        ended(error instanceof AnswerTooLong ? error : new ConnectionLost());
        controller.error(error);
      }
    },
    cancel: (reason) => reader.cancel(reason),
  });
}

export interface McpFetchOptions {
  /** The event stream on which an SSE server answers has ended: nothing more can arrive. */
  onStreamEnd(error: Error): void;
  /** What a request failed with before any answer, because some transports keep only its text. */
  onFailure(error: unknown): void;
  /** Whether the answer to the request with this id has arrived. */
  isAnswered(id: unknown): boolean;
}

/** The id of the request in a body of ours; undefined for a notification. */
const idOf = (body: unknown): unknown => (typeof body === "string" ? Reflect.get(Object(JSON.parse(body)), "id") : undefined);

/**
 * The `fetch` of one connection: every request passes the guard and carries the endpoint's headers, answers are
 * bounded, and an answer that breaks off fails the request that waits for it at once instead of at its time limit.
 */
export function mcpFetch(endpoint: McpEndpoint, { onStreamEnd, onFailure, isAnswered }: McpFetchOptions) {
  const guarded = guardedFetch(endpoint.reach);
  return async (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const awaited = awaitedHere.getStore();
    const headers = new Headers(init.headers);
    for (const [name, value] of Object.entries(endpoint.headers)) headers.set(name, value);
    const response = await guarded(input, { ...init, headers }).catch((error: unknown) => {
      onFailure(error);
      throw error;
    });
    if (!response.body) return response;
    const isGet = (init.method ?? "GET").toUpperCase() === "GET";
    const isStream = /^text\/event-stream/i.test(response.headers.get("content-type") ?? "");
    // A stream whose events have ids can be taken up again; the SDK does so by itself.
    let isResumable = false;
    const id = idOf(init.body);
    const body = watched(
      response.body,
      (chunk) => {
        isResumable ||= isStream && /(^|\n)id:/.test(Buffer.from(chunk).toString("latin1"));
      },
      (error) => {
        if (error instanceof AnswerTooLong) onFailure(error);
        if (isGet) {
          if (endpoint.transport === "sse" && isStream) onStreamEnd(error ?? new ConnectionLost());
        } else if (awaited && isStream && (!isResumable || error instanceof AnswerTooLong)) {
          setTimeout(() => isAnswered(id) || awaited.fail(error ?? new ConnectionLost()), GRACE_MS).unref();
        }
      },
    );
    return new Response(body, { status: response.status, statusText: response.statusText, headers: response.headers });
  };
}
