import { AsyncLocalStorage } from "node:async_hooks";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import type { McpEndpoint } from "#server/features/mcp/client/endpoint.ts";
import { ConnectionLost, McpTimeout } from "#server/features/mcp/client/errors.ts";
import { ToolPage, ToolResult } from "#server/features/mcp/client/shapes.ts";
import { JsonMeter } from "#server/platform/clean-text.ts";
import { guardedFetch } from "#server/platform/net/guarded-fetch.ts";
import { AnswerTooLong, measureJson } from "#server/platform/net/read-up-to.ts";

/** Longest answer, and longest event stream of one connection, that is read, in bytes. */
const MAX_BYTES = 16 * 1024 * 1024;
/** How long after the end of an answer its last event may still be on its way through the parser. */
const GRACE_MS = 250;

/** One request of ours that waits for its answer. */
interface Awaited {
  fail(error: Error): void;
}

/** Which request a `fetch` belongs to: the transports of the SDK do not say, the asynchronous context does. */
const awaitedHere = new AsyncLocalStorage<Awaited>();

/** The body with its end watched: `ended` is called once, with the error if there was one. */
function watched(body: ReadableStream<Uint8Array>, onChunk: (latin: string) => void, ended: (error?: Error) => void): ReadableStream {
  const reader = body.getReader();
  const meter = new JsonMeter();
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
        const latin = Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("latin1");
        measureJson(meter, latin);
        onChunk(latin);
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

interface McpFetchOptions {
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
function mcpFetch(endpoint: McpEndpoint, { onStreamEnd, onFailure, isAnswered }: McpFetchOptions) {
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
      (latin) => {
        isResumable ||= isStream && /(^|\n)id:/.test(latin);
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

/** How long the end of a session may take that a server is told of out of politeness. */
const GOODBYE_MS = 2000;

export interface SessionLimits {
  /** Seconds until connected, and for one page of the list of tools. */
  connectSeconds: number;
  /** Seconds for one call of a tool. */
  callSeconds: number;
}

/** One connection to a server, initialized. It is not made again when it breaks: see `openMcpTools`. */
export interface McpSession {
  listPage(cursor: string | undefined, signal?: AbortSignal): Promise<ToolPage>;
  callTool(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<ToolResult>;
  /** False once nothing can be asked on it any more. */
  isOpen(): boolean;
  close(): Promise<void>;
}

interface Connection {
  client: Client;
  transport: SSEClientTransport | StreamableHTTPClientTransport;
  awaited: Set<(error: Error) => void>;
  failure: unknown;
  isOpen: boolean;
}

/**
 * Runs one request with a time limit and the caller's signal.
 * @throws the signal's reason; McpTimeout; what the server or the connection failed with
 */
async function ask<Result>(
  connection: Connection,
  seconds: number,
  signal: AbortSignal | undefined,
  request: (options: { signal: AbortSignal; timeout: number }) => Promise<Result>,
): Promise<Result> {
  signal?.throwIfAborted();
  const stop = new AbortController();
  const failed = Promise.withResolvers<never>();
  const fail = (error: Error) => failed.reject(error);
  const onAbort = () => failed.reject(signal?.reason);
  const timer = setTimeout(() => fail(new McpTimeout(seconds)), seconds * 1000);
  signal?.addEventListener("abort", onAbort, { once: true });
  connection.awaited.add(fail);
  // The SDK's own limit comes later than ours and is never met.
  const result = awaitedHere.run({ fail }, () => request({ signal: stop.signal, timeout: seconds * 1000 + 60_000 }));
  result.catch(() => undefined);
  try {
    return await Promise.race([result, failed.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener("abort", onAbort);
    connection.awaited.delete(fail);
    stop.abort(new ConnectionLost()); // tells the server to give up what nobody waits for; nothing when it has answered
  }
}

function newConnection(endpoint: McpEndpoint): Connection {
  const client = new Client({ name: "treadle", version: "1.0.0" }, { capabilities: {} });
  const end = (error: Error) => {
    connection.isOpen = false;
    for (const fail of [...connection.awaited]) fail(error);
  };
  const answered = new Set<unknown>();
  const fetch = mcpFetch(endpoint, {
    onStreamEnd: end,
    onFailure: (error) => {
      connection.failure ??= error;
    },
    isAnswered: (id) => answered.has(id),
  });
  const url = new URL(endpoint.url);
  const transport =
    endpoint.transport === "sse" ? new SSEClientTransport(url, { fetch }) : new StreamableHTTPClientTransport(url, { fetch });
  const connection: Connection = { client, transport, awaited: new Set(), failure: undefined, isOpen: true };
  // The SDK fails what waits for an answer by itself, and closes in the middle of a connect that fails for a reason of its own.
  client.onclose = () => {
    connection.isOpen = false;
  };
  // The client calls this before its own.
  (transport as Transport).onmessage = (message) => {
    if (!("method" in message) && "id" in message) answered.add(message.id);
  };
  client.onerror = () => undefined; // what fails a request reaches whoever asked
  return connection;
}

async function closeConnection({ client, transport }: Connection): Promise<void> {
  if (transport instanceof StreamableHTTPClientTransport && transport.sessionId !== undefined) {
    const goodbye = transport.terminateSession().catch(() => undefined);
    const timer = Promise.withResolvers<void>();
    const handle = setTimeout(timer.resolve, GOODBYE_MS);
    await Promise.race([goodbye, timer.promise]);
    clearTimeout(handle);
  }
  await client.close().catch(() => undefined);
}

/** A transport that gave only the text of an error, where we have the error itself. */
const rootOf = (error: unknown, { failure }: Connection): unknown =>
  failure !== undefined && !(error instanceof McpTimeout) && !(error instanceof McpError) ? failure : error;

/**
 * Connects and initializes.
 * @throws what the guard, the network or the server failed with (`mcpFailure` makes a sentence of it); McpTimeout; the signal's reason
 */
export async function openSession(endpoint: McpEndpoint, limits: SessionLimits, signal?: AbortSignal): Promise<McpSession> {
  const connection = newConnection(endpoint);
  const { client } = connection;
  try {
    // cast: under exactOptionalPropertyTypes the SDK's transports do not match its own interface
    await ask(connection, limits.connectSeconds, signal, (options) => client.connect(connection.transport as Transport, options));
  } catch (error) {
    await closeConnection(connection);
    throw signal?.aborted ? signal.reason : rootOf(error, connection);
  }
  connection.failure = undefined;
  return {
    listPage: (cursor, inner) =>
      ask(connection, limits.connectSeconds, inner, (options) =>
        client.request({ method: "tools/list", params: cursor === undefined ? {} : { cursor } }, ToolPage, options),
      ),
    callTool: (name, args, inner) =>
      ask(connection, limits.callSeconds, inner, (options) =>
        client.request({ method: "tools/call", params: { name, arguments: args } }, ToolResult, options),
      ),
    isOpen: () => connection.isOpen,
    close: () => closeConnection(connection),
  };
}

/** True when the server says that it does not know the session (any more), or cannot be asked at all: nothing was done. */
export function isSessionGone(error: unknown, status: number | undefined): boolean {
  if (status === 404 || status === 400) return true;
  if (error instanceof McpError) return error.code === ErrorCode.ConnectionClosed && /not connected/i.test(error.message);
  if (!(error instanceof Error)) return false;
  return /^not connected$/i.test(error.message) || ("code" in error && error.code === "ECONNREFUSED");
}
