import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { SSEClientTransport } from "@modelcontextprotocol/sdk/client/sse.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { ErrorCode, McpError } from "@modelcontextprotocol/sdk/types.js";
import type { McpEndpoint } from "#server/llm/tools/mcp/mcp-endpoint.ts";
import { ConnectionLost, McpTimeout } from "#server/llm/tools/mcp/mcp-errors.ts";
import { awaitedHere, mcpFetch } from "#server/llm/tools/mcp/mcp-fetch.ts";
import { ToolPage } from "#server/llm/tools/mcp/mcp-listing.ts";
import { ToolResult } from "#server/llm/tools/mcp/mcp-result.ts";

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
