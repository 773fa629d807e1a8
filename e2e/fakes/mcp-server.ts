import { randomUUID } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { parseArgs } from "node:util";
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js";
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js";
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { isInitializeRequest } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { listen } from "#e2e/fakes/listen.ts";

// A real MCP server on the SDK: /mcp speaks streamable HTTP, /sse the older transport. The same under /locked want the
// header `Authorization: Bearer mcp-token-0123456789`. /away redirects elsewhere, /never takes requests and never answers.

export const MCP_TOKEN = "mcp-token-0123456789";

/** A picture of one pixel, 70 bytes. */
const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

export interface McpCall {
  tool: string;
  args: unknown;
  outcome: "running" | "answered" | "aborted";
}

export interface FakeMcpServer {
  /** `http://127.0.0.1:<port>`; add /mcp, /sse, /locked/mcp or /locked/sse. */
  url: string;
  port: number;
  calls(): McpCall[];
  sessions(): number;
  /** Forgets every session: clients get 404 from then on. */
  dropSessions(): void;
  stop(): Promise<void>;
}

interface Session {
  transport: StreamableHTTPServerTransport | SSEServerTransport;
  /** Answers under way, to be cut by the tool `break_off`. */
  open: Set<ServerResponse>;
}

class Sessions {
  readonly calls: McpCall[] = [];
  readonly byId = new Map<string, Session>();

  #server(session: () => Session | undefined): McpServer {
    const server = new McpServer({ name: "fake", version: "1.0.0" });
    const text = (value: string) => ({ content: [{ type: "text" as const, text: value }] });
    const record = (tool: string, args: unknown): McpCall => {
      const call: McpCall = { tool, args, outcome: "running" };
      this.calls.push(call);
      return call;
    };
    server.registerTool("echo", { description: "Says it again.", inputSchema: { text: z.string() } }, (args) => {
      record("echo", args).outcome = "answered";
      return text(args.text);
    });
    server.registerTool("add", { description: "Adds two numbers.", inputSchema: { a: z.number(), b: z.number() } }, (args) => {
      record("add", args).outcome = "answered";
      return text(String(args.a + args.b));
    });
    server.registerTool("slow", { description: "Answers late.", inputSchema: { ms: z.number() } }, async (args, { signal }) => {
      const call = record("slow", args);
      await pause(args.ms, undefined, { signal }).catch(() => undefined);
      call.outcome = signal.aborted ? "aborted" : "answered";
      return text("At last.");
    });
    server.registerTool("failing", { description: "Always fails." }, () => {
      record("failing", {}).outcome = "answered";
      return { ...text("The shelf is empty."), isError: true };
    });
    server.registerTool("image", { description: "Draws one pixel." }, () => {
      record("image", {}).outcome = "answered";
      return {
        content: [
          { type: "text", text: "A pixel:" },
          { type: "image", mimeType: "image/png", data: PIXEL },
        ],
      };
    });
    server.registerTool("resource", { description: "Hands over a note." }, () => {
      record("resource", {}).outcome = "answered";
      return {
        content: [
          { type: "resource", resource: { uri: "note://1", mimeType: "text/plain", text: "Buy thread." } },
          { type: "resource", resource: { uri: "note://2", mimeType: "application/pdf", blob: PIXEL } },
          { type: "resource_link", uri: "note://3", name: "third", description: "a list" },
        ],
      };
    });
    server.registerTool("headers", { description: "Tells the headers that it got." }, ({ requestInfo }) => {
      record("headers", {}).outcome = "answered";
      return text(JSON.stringify(requestInfo?.headers ?? {}));
    });
    server.registerTool("break_off", { description: "Cuts the connection instead of answering." }, async () => {
      record("break_off", {});
      for (const response of session()?.open ?? []) response.destroy();
      return text("nobody hears this");
    });
    return server;
  }

  async #connect(server: McpServer, transport: Session["transport"]): Promise<void> {
    await server.connect(transport as Transport); // cast: the SDK's own interface is stricter about undefined
  }

  async streamable(request: IncomingMessage, response: ServerResponse, body: unknown): Promise<void> {
    const id = request.headers["mcp-session-id"];
    let session = this.byId.get(String(id));
    if (!session) {
      if (id !== undefined || !isInitializeRequest(body)) {
        const code = id === undefined ? 400 : 404;
        const message = id === undefined ? "Bad Request: no session" : "Session not found";
        response.writeHead(code, { "content-type": "application/json" });
        response.end(JSON.stringify({ jsonrpc: "2.0", error: { code: -32001, message }, id: null }));
        return;
      }
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        onsessioninitialized: (newId) => void this.byId.set(newId, made),
        onsessionclosed: (oldId) => void this.byId.delete(oldId),
      });
      const made: Session = { transport, open: new Set() };
      session = made;
      await this.#connect(
        this.#server(() => made),
        transport,
      );
    }
    if (request.method === "POST") session.open.add(response);
    response.once("close", () => session.open.delete(response));
    if (session.transport instanceof StreamableHTTPServerTransport) await session.transport.handleRequest(request, response, body);
  }

  async sse(response: ServerResponse, messagesPath: string): Promise<void> {
    const transport = new SSEServerTransport(messagesPath, response);
    const session: Session = { transport, open: new Set([response]) };
    this.byId.set(transport.sessionId, session);
    response.once("close", () => this.byId.delete(transport.sessionId));
    await this.#connect(
      this.#server(() => session),
      transport,
    );
  }

  async sseMessage(request: IncomingMessage, response: ServerResponse, id: string, body: unknown): Promise<void> {
    const session = this.byId.get(id);
    if (session?.transport instanceof SSEServerTransport) return session.transport.handlePostMessage(request, response, body);
    response.writeHead(404).end("Session not found");
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return text ? JSON.parse(text) : undefined;
}

async function handle(sessions: Sessions, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", "http://mcp-server");
  const route = `${request.method} ${url.pathname}`;
  const sendJson = (value: unknown) => response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(value));
  if (route === "GET /_calls") return void sendJson({ calls: sessions.calls, sessions: sessions.byId.size });
  if (route === "POST /_drop") return void sendJson(sessions.byId.clear() ?? {});
  if (url.pathname === "/never") return;
  if (url.pathname === "/away") return void response.writeHead(307, { location: "http://elsewhere.example/mcp" }).end();
  const isLocked = url.pathname.startsWith("/locked/");
  if (isLocked && request.headers.authorization !== `Bearer ${MCP_TOKEN}`) return void response.writeHead(401).end("Unauthorized");
  const path = isLocked ? url.pathname.slice("/locked".length) : url.pathname;
  if (path === "/mcp") return sessions.streamable(request, response, request.method === "POST" ? await readBody(request) : undefined);
  if (path === "/sse" && request.method === "GET") return sessions.sse(response, `${isLocked ? "/locked" : ""}/messages`);
  if (path === "/messages" && request.method === "POST")
    return sessions.sseMessage(request, response, url.searchParams.get("sessionId") ?? "", await readBody(request));
  response.writeHead(404, { "content-type": "text/html" }).end("<!doctype html><title>Not found</title>");
}

/** Starts the server on `port` of the loopback interface; without one, on a port of the system's choice. */
export async function startMcpServer({ port = 0 }: { port?: number } = {}): Promise<FakeMcpServer> {
  const sessions = new Sessions();
  const server = createServer((request, response) => {
    handle(sessions, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500).end(String(error));
    });
  });
  const listening = await listen(server, port);
  return {
    ...listening,
    calls: () => sessions.calls,
    sessions: () => sessions.byId.size,
    dropSessions: () => sessions.byId.clear(),
  };
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { port: { type: "string", default: "4020" } } });
  const server = await startMcpServer({ port: Number(values.port) });
  process.stdout.write(`The MCP server answers at ${server.url}\n`);
}
