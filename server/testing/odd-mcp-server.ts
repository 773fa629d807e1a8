import { type HttpServer, serveHttp } from "#server/testing/start-http-server.ts";

interface Message {
  id?: number;
  method: string;
  params?: { name?: string; cursor?: string };
}

const INITIALIZED = { protocolVersion: "2025-06-18", capabilities: { tools: {} }, serverInfo: { name: "odd", version: "1" } };

/**
 * An MCP server of one test that follows the protocol by and large: without sessions, and with answers that its schemas do not know.
 * @param answer gives the `result` of each message but the first
 * @param protocolVersion what it answers to the first
 */
export const serveOddMcp = (answer: (message: Message) => object, protocolVersion = INITIALIZED.protocolVersion): Promise<HttpServer> =>
  serveHttp((response, _, { method, body }) => {
    if (method !== "POST") return void response.writeHead(405).end();
    const message = body as Message;
    if (message.id === undefined) return void response.writeHead(202).end();
    const result = message.method === "initialize" ? { ...INITIALIZED, protocolVersion } : answer(message);
    response.writeHead(200, { "content-type": "application/json" });
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message.id, result }));
  });
