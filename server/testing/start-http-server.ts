import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { onTestFinished } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";

export interface ReceivedRequest {
  method: string;
  path: string;
  headers: IncomingMessage["headers"];
  body: unknown;
}

export interface HttpServer {
  /** `http://127.0.0.1:<port>`, without a trailing slash. */
  url: string;
  requests: ReceivedRequest[];
  stop(): Promise<void>;
}

/**
 * A real HTTP server of one test, for answers that no well-behaved stand-in gives.
 * @param answer is called with how many requests came before this one
 */
export async function startHttpServer(
  answer: (response: ServerResponse, index: number, request: ReceivedRequest) => void,
): Promise<HttpServer> {
  const requests: ReceivedRequest[] = [];
  const server = createServer(async (incoming, response) => {
    const parts: Buffer[] = [];
    for await (const part of incoming) parts.push(part as Buffer);
    const text = Buffer.concat(parts).toString("utf8");
    const request = {
      method: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      body: text ? JSON.parse(text) : undefined,
    };
    requests.push(request);
    answer(response, requests.length - 1, request);
  });
  return { ...(await listen(server)), requests };
}

/** The same, stopped when the test that asked for it ends. */
export async function serveHttp(...[answer]: Parameters<typeof startHttpServer>): Promise<HttpServer> {
  const server = await startHttpServer(answer);
  onTestFinished(() => server.stop());
  return server;
}
