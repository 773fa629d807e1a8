import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";

export interface FlakyProxy {
  url: string;
  /** Requests that arrived, as `POST /api/v1/…`. */
  requests: string[];
  close(): void;
}

/**
 * Stands before a server and does to a client what the world does: it answers the first request with 429 and one second of
 * Retry-After, closes on the first request for an event stream, and breaks the second one after its first event.
 */
export async function flakyProxy(target: string): Promise<FlakyProxy> {
  const requests: string[] = [];
  const has = { refused: false, closed: false, broken: false };
  const server = createServer(async (request, response) => {
    requests.push(`${request.method} ${request.url}`);
    if (!has.refused) {
      has.refused = true;
      const body = { detail: "Too many requests.", error_code: "RATE_LIMIT_EXCEEDED", status: 429 };
      response.writeHead(429, { "content-type": "application/json", "retry-after": "1" }).end(JSON.stringify(body));
      return;
    }
    if (!has.closed && request.url?.endsWith("/stream")) {
      has.closed = true;
      response.destroy();
      return;
    }
    const { host: _, connection: __, ...headers } = request.headers as Record<string, string>;
    const hasBody = request.method !== "GET";
    const answer = await fetch(target + request.url, {
      method: request.method ?? "GET",
      headers,
      ...(hasBody && { body: Readable.toWeb(request) as ReadableStream, duplex: "half" }),
    } as RequestInit);
    const isStream = answer.headers.get("content-type")?.startsWith("text/event-stream");
    const kept = ["content-type", "retry-after"].flatMap((name) =>
      answer.headers.has(name) ? [[name, answer.headers.get(name) ?? ""]] : [],
    );
    response.writeHead(answer.status, Object.fromEntries(kept));
    for await (const chunk of answer.body ?? []) {
      const isLast = isStream && !has.broken && Buffer.from(chunk).includes("data:");
      if (!isLast) {
        response.write(chunk);
        continue;
      }
      has.broken = true;
      response.write(chunk, () => response.destroy());
      return;
    }
    response.end();
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}
