import { createServer, request as httpRequest, type IncomingMessage, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { onTestFinished } from "vitest";
import { listen } from "#e2e/fakes/listen.ts";
import { setSettings } from "#server/platform/settings.ts";
import { TEST_SERVER } from "#server/testing/certificates.ts";

export interface ProxyOptions {
  /** `user:password` that the proxy asks for. */
  credentials?: string;
  /** True for a proxy that is reached over TLS. */
  isTls?: boolean;
  /** Takes the place of the tunnel. */
  onConnect?(socket: Duplex): void;
}

export interface TestProxy {
  port: number;
  /** Method, target and Proxy-Authorization of each request. */
  requests: { method: string; target: string; authorization: string | undefined }[];
  /** Tunnels that are open. */
  tunnels: Set<Duplex>;
  stop(): Promise<void>;
}

const portOf = (authority: string): number => Number(/:(\d+)$/.exec(authority)?.[1] ?? 80);

/** A forward proxy of one test. Every host is the loopback interface. */
export async function serveProxy({ credentials, isTls = false, onConnect }: ProxyOptions = {}): Promise<TestProxy> {
  const requests: TestProxy["requests"] = [];
  const tunnels = new Set<Duplex>();
  const wanted = credentials === undefined ? undefined : `Basic ${Buffer.from(credentials).toString("base64")}`;

  function isRefused({ method = "", url = "", headers }: IncomingMessage): boolean {
    const authorization = headers["proxy-authorization"];
    requests.push({ method, target: url, authorization });
    return wanted !== undefined && authorization !== wanted;
  }

  const forward: RequestListener = (request, response) => {
    if (isRefused(request)) return void response.writeHead(407, { "proxy-authenticate": "Basic" }).end("sign in");
    const { method, headers, url = "" } = request;
    const { "proxy-authorization": _, ...others } = headers;
    const { host, pathname, search } = new URL(url);
    const onward = httpRequest({ host: "127.0.0.1", port: portOf(host), path: pathname + search, method, headers: others }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.rawHeaders);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    request.pipe(onward);
  };

  const server = isTls ? createTlsServer(TEST_SERVER, forward) : createServer(forward);
  server.on("connect", (request: IncomingMessage, socket: Duplex) => {
    tunnels.add(socket);
    socket.on("close", () => tunnels.delete(socket)).on("error", () => undefined);
    socket.on("end", () => socket.end());
    if (isRefused(request)) return socket.end("HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n\r\n");
    if (onConnect) return onConnect(socket.resume());
    const onward = connect(portOf(request.url ?? ""), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
      socket.pipe(onward).pipe(socket);
    });
    onward.on("error", () => socket.destroy());
    onward.on("close", () => socket.destroy());
    socket.on("close", () => onward.destroy());
  });

  const { port, stop } = await listen(server);
  const end = () => {
    for (const socket of tunnels) socket.destroy();
    return stop();
  };
  onTestFinished(end);
  return { port, requests, tunnels, stop: end };
}

/** Sets a proxy with a password at a port where nothing listens, until the test ends. */
export function setAbsentProxy(): void {
  setSettings({ OUTGOING_PROXY: "http://ada:hunter2@127.0.0.1:1" });
  onTestFinished(() => setSettings({ OUTGOING_PROXY: "" }));
}
