import { request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import { ReadableStream } from "node:stream/web";
import { setImmediate as nextTurn } from "node:timers/promises";
import { AbortError } from "#server/platform/abort.ts";
import { unpackContent } from "#server/platform/net/content-coding.ts";
import { checkUrl, guardedLookup, type Reach } from "#server/platform/net/guard.ts";
import { OutgoingHttpAgent, OutgoingHttpsAgent, type OutgoingRequestOptions } from "#server/platform/net/outgoing-agents.ts";
import { proxyFor } from "#server/platform/net/outgoing-proxy.ts";
import { refusedCredentials } from "#server/platform/net/proxy-connection.ts";
import { AnswerTooLong } from "#server/platform/net/read-up-to.ts";

/** Longest answer that is read; a server that sends without end must not fill the memory. */
const MAX_BYTES = 64 * 1024 * 1024;

// Kept-alive connections are shared only by requests of one reach: a socket is checked when it is opened.
const agents = new Map<Reach, { http: OutgoingHttpAgent; https: OutgoingHttpsAgent }>();

function agentsFor(reach: Reach) {
  const open = agents.get(reach) ?? {
    http: new OutgoingHttpAgent({ keepAlive: true }),
    https: new OutgoingHttpsAgent({ keepAlive: true }),
  };
  agents.set(reach, open);
  return open;
}

/** Bytes of the headers of an answer's chunks that are read whatever the chunks hold; further ones up to a quarter of what these hold. */
const FREE_BYTES = 256 * 1024;

/**
 * The bytes of an answer as they come. Other work has its turn between two reads, and an answer in tiny chunks ends: a chunk of one byte
 * costs as much work as one of thousands.
 */
async function* received(message: IncomingMessage): AsyncGenerator<Buffer<ArrayBuffer>> {
  const { socket } = message;
  const before = socket.bytesRead;
  let bytes = 0;
  for await (const chunk of message as AsyncIterable<Buffer<ArrayBuffer>>) {
    bytes += chunk.length;
    const around = socket.bytesRead - before - bytes - message.readableLength;
    if (around > Math.max(FREE_BYTES, bytes / 4)) throw new AnswerTooLong("256 KiB of headers of its chunks");
    yield chunk;
    await nextTurn();
  }
}

/** The bytes of an answer, decompressed and bounded. An error on the way down reaches whoever reads. */
async function* bytesOf(message: IncomingMessage): AsyncGenerator<Uint8Array<ArrayBuffer>> {
  const tooLong = () => new AnswerTooLong(MAX_BYTES);
  let bytes = 0;
  for await (const chunk of unpackContent(received(message), message.headers["content-encoding"], { maxBytes: MAX_BYTES, tooLong })) {
    bytes += chunk.length;
    if (bytes > MAX_BYTES) throw tooLong();
    yield chunk;
  }
}

/** How much, in bytes, and how long, in milliseconds, is still read of an answer that is given up. */
const TAIL = { bytes: 16 * 1024, ms: 100 };

/** Reads the last of an answer that is given up, so that its connection can serve the next request; a longer one is cut. */
async function letGo(message: IncomingMessage, bytes: AsyncGenerator<Uint8Array>): Promise<void> {
  const late = setTimeout(() => message.destroy(), TAIL.ms);
  let left = TAIL.bytes;
  try {
    for await (const { length } of bytes) {
      left -= length;
      if (left < 0) break;
    }
  } catch {
    // Whoever has given it up does not want to know.
  } finally {
    clearTimeout(late);
    if (!message.complete) message.destroy();
  }
}

/** The body of an answer. Whoever gives it up, also unread, frees the connection that it comes on or ends it. */
function bodyOf(message: IncomingMessage): ReadableStream {
  const bytes = bytesOf(message);
  return new ReadableStream(
    {
      async pull(controller) {
        const { done, value } = await bytes.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel() {
        void letGo(message, bytes);
      },
    },
    { highWaterMark: 0 },
  );
}

function responseOf(message: IncomingMessage): Response {
  const status = message.statusCode ?? 0;
  if (status < 200) {
    message.destroy();
    throw Object.assign(new Error(`The server answered with the status ${status}, which is no final status.`), { code: "ERR_HTTP_STATUS" });
  }
  const headers = new Headers();
  for (const [name, value] of Object.entries(message.headersDistinct)) for (const one of value ?? []) headers.append(name, one);
  const isEmpty = [204, 205, 304].includes(status);
  if (isEmpty) message.resume();
  // cast: the stream class of node:stream/web is the global one, declared twice
  const body = isEmpty ? null : (bodyOf(message) as unknown as BodyInit);
  if (status <= 599) return new Response(body, { status, headers });
  // The class takes no such status, and some servers send one (999: LinkedIn).
  return Object.defineProperties(new Response(body, { headers }), { status: { value: status }, ok: { value: false } });
}

// Between the end of an answer and the return of its connection to the agent nobody listens for the errors of the socket, and
// an abort in this moment would end the process.
const ignored = () => undefined;

/** Returns the path of a request with the query as it is written: URL would encode an apostrophe, which some signatures cover. */
function pathOf({ pathname, search }: URL, written: string): string {
  const query = /\?([^#]*)/.exec(written)?.[1] ?? "";
  return `${pathname}${/^[!$-;=?-~]+$/.test(query) ? `?${query}` : search}`;
}

/** How soon after a request was sent its connection's end means that it had ended before, in milliseconds. */
const STALE_MS = 1000;

/** Sends one request. Settles on every end of it: an answer, an error, an abort, and a connection that ends without either. */
function send(url: URL, options: OutgoingRequestOptions, body: string | undefined, signal: AbortSignal | undefined): Promise<Response> {
  const sent = Date.now();
  const isEncrypted = url.protocol === "https:";
  return new Promise((resolve, reject) => {
    let isAnswered = false;
    const settle = (message: IncomingMessage) => {
      isAnswered = true;
      try {
        resolve(responseOf(message));
      } catch (error) {
        reject(error);
      }
    };
    const request = (isEncrypted ? httpsRequest : httpRequest)(url, options, settle);
    // Node emits no response for these: it hands over the socket, which belongs to no agent any more.
    for (const event of ["upgrade", "connect"] as const)
      request.once(event, (message, socket) => {
        socket.destroy();
        settle(message);
      });
    request.once("error", (error: NodeJS.ErrnoException) => {
      // The server closed a kept-alive connection just as it was taken again: ask anew, on one of its own. What is cut later
      // may have been worked on, and whether to ask for that again is for the caller to say.
      const isStale = !isAnswered && request.reusedSocket && error.code === "ECONNRESET" && Date.now() - sent < STALE_MS;
      if (!isStale || signal?.aborted) return reject(error);
      const agent = isEncrypted ? new OutgoingHttpsAgent() : new OutgoingHttpAgent();
      resolve(send(url, { ...options, agent }, body, signal));
    });
    // Does nothing after an answer or an error. "close" is the one event that Node emits on each end of a request.
    request.once("close", () => reject(Object.assign(new Error("The connection ended without an answer."), { code: "ECONNRESET" })));
    // Node's own option binds the request to the signal in ways that keep it in memory until the next collection of old objects.
    if (signal) {
      const cut = () => request.destroy(new AbortError(signal.reason));
      signal.addEventListener("abort", cut, { once: true });
      request.once("close", () => signal.removeEventListener("abort", cut));
    }
    request.on("socket", (socket) => {
      if (!socket.listeners("error").includes(ignored)) socket.on("error", ignored);
    });
    request.end(body);
  });
}

/**
 * A `fetch` for outgoing requests that never leaves its reach: addresses are checked when the connection is made, so a
 * name that resolves differently the second time gains nothing, and redirects are handed to the caller, not followed.
 * Through the proxy of the settings, if one serves the address: of a name that the proxy resolves, no address is checked.
 * Bodies are text. An abort cuts the connection, also while the answer is being read.
 * @throws AddressRefused; ProxyFailed; Error with the `code` of the socket (ECONNREFUSED, ENOTFOUND, …); AbortError
 */
export const guardedFetch =
  (reach: Reach) =>
  async (input: string | URL | Request, init: RequestInit = {}): Promise<Response> => {
    if (input instanceof Request) throw new TypeError("guardedFetch takes an address, not a Request.");
    const { body, method = "GET" } = init;
    const signal = init.signal ?? undefined;
    if (body !== undefined && body !== null && typeof body !== "string") throw new TypeError("guardedFetch sends text only.");
    const url = new URL(input);
    checkUrl(url, reach);
    signal?.throwIfAborted();

    const headers = new Headers(init.headers);
    headers.set("accept-encoding", "identity");
    if (typeof body === "string") headers.set("content-length", `${Buffer.byteLength(body)}`);
    const { http, https } = agentsFor(reach);
    const path = pathOf(url, String(input));
    const options = { method, lookup: guardedLookup(reach), abort: signal };
    if (url.protocol === "https:")
      return send(url, { ...options, path, headers: Object.fromEntries(headers), agent: https }, body ?? undefined, signal);

    const proxy = proxyFor(url);
    if (proxy) headers.delete("proxy-authorization");
    if (proxy?.authorization) headers.set("proxy-authorization", proxy.authorization);
    const request = { ...options, path: proxy ? `http://${url.host}${path}` : path, isForwarded: true, agent: http };
    const response = await send(url, { ...request, headers: Object.fromEntries(headers) }, body ?? undefined, signal);
    if (!proxy || response.status !== 407) return response;
    await response.body?.cancel();
    throw refusedCredentials(proxy);
  };
