import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { Server as NetServer, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import type { Pool } from "pg";
import { BoundedRequest, createBodyBounds, heldBytes } from "#server/http/front/body-bounds.ts";
import { BARE_POLICY, setPagePolicy } from "#server/http/front/content-policy.ts";
import { allowOrigin, isPreflight } from "#server/http/front/cors.ts";
import { answerError, EnvelopeResponse, isAnswerable, unreadableAnswer } from "#server/http/front/error-answers.ts";
import { type HostFault, hostFault } from "#server/http/front/host-fault.ts";
import { isFromHere, isOnMachine } from "#server/http/front/on-machine.ts";
import { createRateLimit, createWebLimit } from "#server/http/front/rate-limit.ts";
import { FRONT_HEADER, ON_MACHINE_HEADER } from "#server/platform/auth/request-origin.ts";
import { createByteLedger } from "#server/platform/byte-ledger.ts";
import { AppError } from "#server/platform/errors.ts";
import { log, loggedPath } from "#server/platform/log.ts";
import { budgetOf, ownAddress, plainAddress } from "#server/platform/net/client-address.ts";
import type { Settings } from "#server/platform/settings.ts";

type FrontSettings = Pick<
  Settings,
  | "APP_URL"
  | "TRUST_PROXY"
  | "RATE_LIMIT_PER_MINUTE"
  | "RATE_LIMIT_BURST"
  | "RATE_LIMIT_WEB"
  | "MAX_BODY_BYTES"
  | "INNGEST_DEV"
  | "TREADLE_FRONT_TOKEN"
> &
  Partial<Pick<Settings, "CORS_ORIGINS" | "LOG_REQUESTS">>;

export interface FrontOptions {
  /** Next's request handler. */
  handle(request: IncomingMessage, response: ServerResponse): Promise<void> | void;
  /** Next's upgrade handler (hot reload during development). */
  upgrade?(request: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> | void;
  settings: FrontSettings;
  /** Where the requests of each address are counted for all web processes together; left out, this process counts its own. */
  counters?: Pool | undefined;
  /** See `EnvelopeResponse.stallMs`. */
  stallMs?: number;
}

export interface Front {
  server: Server;
  /**
   * Starts listening.
   * @param port 0 lets the system choose
   * @param host left out: all interfaces, over IPv4 and IPv6 as far as the machine has them
   * @returns the port
   * @throws Error with one sentence that says what to do when the port cannot be had
   */
  listen(port: number, host?: string): Promise<number>;
  /** Event streams that are open now. */
  openStreams(): number;
  /**
   * Stops accepting connections and ends event streams, whose clients connect to the next process. Requests in flight get `graceMs`.
   * Requests on connections that are open get IDLE_MS, and are answered with `Connection: close`.
   */
  drain(graceMs?: number): Promise<void>;
}

const DRAIN_MS = 8000; // Docker kills after 10 s, and the database is still to be closed
/** Time in which a client learns from an answer that its connection ends, in ms. One that is closed under a request is a reset. */
const IDLE_MS = 500;

/** Of every answer: no guessing at types, no foreign frame around our pages, no address of ours (tokens stand in some) told to other sites. */
const SAFE_HEADERS = {
  "x-content-type-options": "nosniff",
  "x-frame-options": "SAMEORIGIN",
  "referrer-policy": "same-origin",
  "content-security-policy": BARE_POLICY,
};

/** One year (RFC 6797). Not for subdomains, which may be others' services. */
const SECURE_ONLY = "max-age=31536000";

/** The last of a comma-separated header: the hop that our own proxy wrote. */
const lastHop = (value: string | string[] | undefined): string | undefined =>
  [value].flat().join(",").split(",").at(-1)?.trim() || undefined;

function addressOf({ socket, headers }: IncomingMessage, isBehindProxy: boolean): string {
  const told = isBehindProxy ? plainAddress(lastHop(headers["x-forwarded-for"])) : undefined;
  return told ?? ownAddress(socket);
}

/** Drops what only a proxy may say and says it ourselves, so that Next and next-auth can take it as the truth. */
function tellTheTruth(request: IncomingMessage, address: string, settings: FrontSettings): void {
  const { headers } = request;
  const onMachine = isOnMachine(request, settings);
  const { APP_URL, TRUST_PROXY, TREADLE_FRONT_TOKEN } = settings;
  const app = APP_URL ? new URL(APP_URL) : undefined;
  const told = TRUST_PROXY ? { proto: lastHop(headers["x-forwarded-proto"]), host: lastHop(headers["x-forwarded-host"]) } : undefined;
  for (const name of Object.keys(headers)) if (/^(x-forwarded-|x-treadle-|forwarded$|x-real-ip$)/.test(name)) delete headers[name];
  headers["x-forwarded-for"] = address;
  // An Inngest server is told to call us where it found us, and inside a network that is not where people do.
  const isOurs = headers.host === app?.host || !request.url?.startsWith("/api/inngest");
  headers["x-forwarded-proto"] = (isOurs && app?.protocol.slice(0, -1)) || (told?.proto === "https" ? "https" : "http");
  headers["x-forwarded-host"] = app?.host ?? told?.host ?? headers.host ?? "localhost";
  headers[ON_MACHINE_HEADER] = onMachine ? "1" : "0";
  if (TREADLE_FRONT_TOKEN) headers[FRONT_HEADER] = TREADLE_FRONT_TOKEN;
}

/** Path and query of an address; `/` for one that cannot be read. */
function originForm(url: string | undefined): string {
  const target = URL.parse(url ?? "");
  return target ? `${target.pathname}${target.search}` : "/";
}

/** Answers what is wrong with the host that a request names. Its connection ends, since nothing on it was sent by a usual client. */
function answerFault(request: IncomingMessage, response: EnvelopeResponse, { status, detail }: HostFault): void {
  const isApi = isUnder(readUrl(request.url ?? "/").path, "/api");
  const body = isApi ? JSON.stringify({ detail, error_code: "BAD_REQUEST", status }) : `${detail}\n`;
  const type = isApi ? "application/json" : "text/plain; charset=utf-8";
  response.writeHead(status, { "content-type": type, "cache-control": "no-store", connection: "close" }).end(body);
}

interface Asked {
  /** The path as a router may come to read it, however it was written: dots resolved, escapes decoded, slashes single. */
  path: string;
  /** Sentence for the client where the address is refused: escapes without sense, too many parameters. */
  fault: string | undefined;
  /** Path and query in their shortest form, escapes as they came: for another, Next would send the client there first. */
  url: string;
}

/** Most parameters of a query. Next reads them in a time that grows with the square of their number. */
const MAX_QUERY_PARAMETERS = 200;

const UNREADABLE = "The path cannot be read. Check its escapes: a percent sign itself is %25.";
const TOO_MANY_PARAMETERS = `The query of the address has more than ${MAX_QUERY_PARAMETERS} parameters. Send fewer.`;

function readUrl(url: string): Asked {
  const given = url.startsWith("/") ? `http://front${url.replace(/^\/+/, "/")}` : url;
  if (!URL.canParse(given)) return { path: "/", fault: UNREADABLE, url: "/" };
  const { pathname, search } = new URL(given);
  const single = pathname.replace(/\/{2,}/g, "/");
  const short = `${single.length > 1 ? single.replace(/\/$/, "") : single}${search}`;
  const fault = search.split("&").length > MAX_QUERY_PARAMETERS ? TOO_MANY_PARAMETERS : undefined;
  try {
    return { path: decodeURIComponent(pathname).replace(/\/{2,}/g, "/"), fault, url: short };
  } catch {
    return { path: pathname, fault: UNREADABLE, url: short };
  }
}

/** Headers by which Next's own pages talk to Next: on the API they would only change what is answered. */
const OF_NEXT = /^(rsc|next-|x-nextjs-|x-middleware-|x-invoke-|x-matched-path)/;

const WEBHOOK_ALIAS = /^\/webhooks\/[^/?]+\/?(?=\?|$)/;
const isUnder = (path: string, base: string): boolean => path === base || path.startsWith(`${base}/`);

/** The methods that Next hands to a route; it has no answer of ours for others. */
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

const NOT_FROM_HERE =
  "With INNGEST_DEV=1 nothing is signed, so only an Inngest dev server on this machine may call. Elsewhere set INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY.";

const tooMany = (seconds: number): AppError =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    `Too many requests from your address. Wait ${seconds === 1 ? "a second" : `${seconds} seconds`} and try again.`,
    { retryAfter: seconds },
  );

const tooManyResponses = (): AppError =>
  new AppError(
    "RATE_LIMIT_EXCEEDED",
    "Too many large responses to your address wait to be read. Read them, or close their connections, and try again.",
    { retryAfter: 5 },
  );

function cannotListen(error: NodeJS.ErrnoException, port: number, host = ""): Error {
  const sentences: Record<string, string> = {
    EADDRINUSE: `Port ${port} is taken by another program. Stop it, or set PORT to another port.`,
    EACCES: `This user may not listen on port ${port}. Set PORT to one above 1023.`,
    EADDRNOTAVAIL: `This machine has no address ${host}. Set HOST to one that it has, or remove HOST for all.`,
    ENOTFOUND: `HOST is ${host}, which is no address of this machine. Remove it for all.`,
  };
  return new Error(sentences[error.code ?? ""] ?? `The web server cannot listen on ${host}:${port}: ${error.message}`);
}

/** Logs a request when its response closes. The query is left out: tokens stand in some. */
function logRequest({ method, url = "" }: IncomingMessage, response: ServerResponse, client: string): void {
  const begun = performance.now();
  const path = loggedPath(readUrl(url).path);
  response.once("close", () => {
    const duration_ms = Math.round(performance.now() - begun);
    log.info({ method, path, status: response.statusCode, duration_ms, client, is_aborted: !response.writableFinished }, "request");
  });
}

/**
 * The HTTP server in front of Next. Next passes on whatever client address it is told and hides the socket, so this is
 * where the address is made sure of, the limits of each address and of bodies are kept before Next does any work, and the
 * alias of the webhook path is resolved.
 */
export function createFront({ handle, upgrade, settings, counters, stallMs }: FrontOptions): Front {
  const limit = createRateLimit(settings.RATE_LIMIT_PER_MINUTE, settings.RATE_LIMIT_BURST, counters);
  const webLimit = createWebLimit(settings.RATE_LIMIT_WEB);
  const boundBody = createBodyBounds(settings.MAX_BODY_BYTES);
  const responses = createByteLedger(heldBytes(settings.MAX_BODY_BYTES));
  const open = new Set<ServerResponse>();
  const upgraded = new Set<Duplex>();
  let isDraining = false;
  const isSecure = settings.APP_URL?.startsWith("https:") === true;
  const isStream = (response: ServerResponse) =>
    response.headersSent && String(response.getHeader("content-type")).startsWith("text/event-stream");

  /** Bounds what a response holds until it closes: its bytes that wait, with all others of its client, and how long they wait. */
  function boundResponse(response: EnvelopeResponse, client: string): void {
    let reserved = 0;
    response.stallMs = stallMs ?? response.stallMs;
    response.reserve = (bytes) => {
      if (!responses.reserve(client, bytes)) return tooManyResponses();
      if (reserved === 0) response.once("close", () => responses.release(client, reserved));
      reserved += bytes;
      return undefined;
    };
  }

  /** Refuses what Next would answer in words of its own, and counts a request to the API; true when it may go on. */
  async function admitToApi(request: IncomingMessage, { path, fault, url }: Asked, client: string, response: EnvelopeResponse) {
    request.url = url;
    for (const name of Object.keys(request.headers)) if (OF_NEXT.test(name)) delete request.headers[name];
    response.keepsEnvelope = true;
    const isOwnPage = isUnder(path, "/api/v1/bridge");
    const cors = isOwnPage ? undefined : allowOrigin(request, settings.CORS_ORIGINS ?? []);
    const isAsking = cors !== undefined && isPreflight(request);
    const { isAllowed, headers, retryAfter } = await (isOwnPage || isAsking ? limit.peek : limit.count)(client);
    // An answer may tell of another limit that is used up.
    response.presets = { ...headers, ...cors };
    if (isAsking) {
      response.writeHead(204).end();
      return false;
    }
    const wait = isAllowed && isOwnPage ? await webLimit(path, client) : retryAfter;
    const { method = "" } = request;
    if (wait > 0) answerError(response, tooMany(wait));
    else if (!METHODS.includes(method))
      answerError(response, new AppError("METHOD_NOT_ALLOWED", `${method} is not used by this API.`), { allow: METHODS.join(", ") });
    else if (fault) answerError(response, new AppError("BAD_REQUEST", fault));
    else return true;
    return false;
  }

  /** The same for pages and the doors that they use. */
  async function admitToWeb({ path, fault }: Asked, client: string, isLocal: boolean, response: EnvelopeResponse) {
    const plain = (status: number, words: string) =>
      response.writeHead(status, { "content-type": "text/plain; charset=utf-8" }).end(`${words}\n`);
    const wait = await webLimit(path, client);
    if (wait > 0 && isUnder(path, "/api")) answerError(response, tooMany(wait));
    else if (wait > 0) plain(429, tooMany(wait).message);
    else if (settings.INNGEST_DEV && isUnder(path, "/api/inngest") && !isLocal)
      answerError(response, new AppError("PERMISSION_DENIED", NOT_FROM_HERE));
    // Next answers an unreadable address of a page with its own 500.
    else if (fault) plain(400, fault);
    else return true;
    return false;
  }

  async function serve(request: BoundedRequest, response: EnvelopeResponse, isAwaited: boolean): Promise<void> {
    if (request.url === "*") return void response.writeHead(204, { allow: METHODS.join(", ") }).end();
    open.add(response);
    response.once("close", () => open.delete(response));
    // Writing to a client that has gone is no fault of ours.
    response.on("error", (err) => log.debug({ err }, "answer not delivered"));
    for (const [name, value] of Object.entries(SAFE_HEADERS)) response.setHeader(name, value);
    // A page of any site that somebody here has open can have their browser call; what serves Inngest never says where from.
    const isLocal = isFromHere(request) && request.headers.origin === undefined;
    const fault = hostFault(request, settings);
    if (fault) return answerFault(request, response, fault);
    const address = addressOf(request, settings.TRUST_PROXY);
    if (settings.LOG_REQUESTS) logRequest(request, response, address);
    tellTheTruth(request, address, settings);
    if (!request.url?.startsWith("/")) request.url = originForm(request.url);
    if (isSecure && request.headers["x-forwarded-proto"] === "https") response.setHeader("strict-transport-security", SECURE_ONLY);
    if (isDraining) response.shouldKeepAlive = false;
    if (WEBHOOK_ALIAS.test(request.url ?? "/")) request.url = `/api/v1${request.url}`;
    setPagePolicy(request, response, upgrade !== undefined);
    const asked = readUrl(request.url ?? "/");
    const client = budgetOf(address);
    boundResponse(response, client);
    // Before anything is waited for: the body may begin to come at once.
    boundBody(request, asked.path, client, (error) => response.refuse(error));
    if (isAwaited && !response.refusal) response.writeContinue();
    // Answers to changes are short: compressing them costs more than sending them.
    if (request.method !== "GET") delete request.headers["accept-encoding"];
    const isApi = isUnder(asked.path, "/api/v1");
    const mayGoOn = isApi ? admitToApi(request, asked, client, response) : admitToWeb(asked, client, isLocal, response);
    if (!(await mayGoOn)) return;
    // A body may have been refused while that was waited for: whoever began to read it now would wait for ever.
    if (response.refusal) answerError(response, response.refusal);
    else await handle(request, response);
  }

  // Whoever only offers another protocol (HTTP/2, say) is answered in this one.
  const shouldUpgradeCallback = (request: IncomingMessage) => upgrade !== undefined && request.url?.startsWith("/_next/") === true;
  const server = createServer({
    keepAliveTimeout: 65_000,
    shouldUpgradeCallback,
    ServerResponse: EnvelopeResponse,
    IncomingMessage: BoundedRequest,
  });
  const onRequest = (request: BoundedRequest, response: EnvelopeResponse, isAwaited = false) => {
    serve(request, response, isAwaited).catch((err: unknown) => {
      log.error({ err, path: loggedPath(readUrl(request.url ?? "/").path) }, "request failed");
      if (response.headersSent) response.destroy();
      else answerError(response, err);
    });
  };
  server.on("request", (request, response) => onRequest(request, response));
  server.on("checkExpectation", (request, response) => onRequest(request, response));
  // Whoever asks first whether the body is welcome is told before sending it.
  server.on("checkContinue", (request, response) => onRequest(request, response, true));
  // What Node's parser refuses never becomes a request. It is counted, since it may have been meant for the API.
  server.on("clientError", (error: NodeJS.ErrnoException, duplex) => {
    const socket = duplex as Socket;
    const answer = async () => {
      const { headers } = await limit.count(budgetOf(ownAddress(socket)));
      if (isAnswerable(socket, error, open)) socket.end(unreadableAnswer(error, { ...SAFE_HEADERS, ...headers }));
    };
    answer()
      .catch((err: unknown) => log.debug({ err }, "answer not delivered"))
      .finally(() => socket.destroySoon());
  });
  server.on("upgrade", (request, socket, head) => {
    upgraded.add(socket);
    socket.once("close", () => upgraded.delete(socket));
    tellTheTruth(request, addressOf(request, settings.TRUST_PROXY), settings);
    if (upgrade) void upgrade(request, socket, head);
    else socket.destroy();
  });

  return {
    server,
    listen: (port, host) =>
      new Promise((resolve, reject) => {
        const fail = (error: Error) => reject(cannotListen(error, port, host));
        server.once("error", fail);
        server.listen(port, host, () => {
          server.off("error", fail);
          const address = server.address();
          resolve(address && typeof address === "object" ? address.port : port);
        });
      }),
    openStreams: () => [...open].filter(isStream).length,
    async drain(graceMs = DRAIN_MS) {
      isDraining = true;
      // Not the method of the HTTP server, which closes idle connections at once.
      const closed = new Promise<void>((resolve) => NetServer.prototype.close.call(server, () => resolve()));
      const idleUntil = performance.now() + IDLE_MS;
      // After what has arrived is read: a request that waits in the socket of a closed connection would be a reset.
      const closeIdle = () => void setImmediate(() => server.closeIdleConnections());
      for (const response of open) {
        response.shouldKeepAlive = false;
        // One that has sent its headers has kept its connection for later requests.
        response.once("close", () => performance.now() > idleUntil && closeIdle());
        if (isStream(response)) response.end();
      }
      for (const socket of upgraded) socket.destroy();
      const timers = [setTimeout(closeIdle, Math.min(IDLE_MS, graceMs)), setTimeout(() => server.closeAllConnections(), graceMs)];
      await closed;
      timers.forEach(clearTimeout);
    },
  };
}
