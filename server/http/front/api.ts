import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { answerError } from "#server/http/front/error-answers.ts";
import { answerInngest } from "#server/http/front/inngest.ts";
import { health, readiness } from "#server/http/health.ts";
import { openApiResponse } from "#server/http/openapi/openapi.ts";
import { methodNotAllowed } from "#server/http/rest/api-route.ts";
import { handleUnknownBridgePath } from "#server/http/rest/bridge.ts";
import { bodyFrom } from "#server/http/rest/read-json.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import { agentChat } from "#server/http/streams/agent-chat.ts";
import { executionStream } from "#server/http/streams/execution-stream.ts";
import { httpTrigger } from "#server/http/streams/http-trigger.ts";
import { incomingWebhook } from "#server/http/streams/incoming-webhook.ts";
import { addRagDocument, uploadRagDocument } from "#server/http/streams/rag-documents.ts";
import { handleTrpc } from "#server/http/trpc-handler.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
type Params = Record<string, string>;
type Answer = (request: Request, context: { params: never }) => Promise<Response>;
type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

interface Route {
  path: string;
  pattern: RegExp;
  methods: Partial<Record<Method, Answer>>;
  /** Answers every other method. */
  others: Answer;
}

/** Methods that a request may have here; whatever else there is (TRACE, say) is nothing of ours. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/**
 * @param path with its parameters in braces; a star at its end stands for the rest, whatever it is
 * @param others left out, other methods are refused, naming those that there are
 */
function route(path: string, methods: Route["methods"], others?: Answer): Route {
  const source = path
    .replaceAll(".", "\\.")
    .replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")
    .replace(/\*$/, ".*");
  const names = Object.keys(methods).flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : [name]));
  return { path, pattern: new RegExp(`^${source}$`), methods, others: others ?? methodNotAllowed(...names) };
}

const keyToRun = { keyNeeds: { scope: "run" } } as const;
// The web app's own: the browser session only, and it does not spend the API's budget.
const ofBrowser = { sessionOnly: true } as const;

/** What is answered under /api, the first whose path fits; next-auth's part is left to Next, which it is made for. */
export const API_ROUTES: readonly Route[] = [
  route("/api/health", { GET: health }),
  route("/api/health/ready", { GET: readiness }),
  route("/api/inngest", { GET: answerInngest, POST: answerInngest, PUT: answerInngest }),
  route("/api/trpc/{procedures}", { GET: handleTrpc, POST: handleTrpc }),
  route("/api/v1/openapi.json", { GET: openApiResponse }),
  route("/api/v1/webhooks/{workflow_id}", { POST: incomingWebhook }),
  route("/api/v1/http/{workflow_id}", {
    GET: httpTrigger,
    POST: httpTrigger,
    PUT: httpTrigger,
    PATCH: httpTrigger,
    DELETE: httpTrigger,
  }),
  route("/api/v1/agents/{agent_id}/chat", { POST: agentChat(keyToRun) }),
  route("/api/v1/executions/{execution_id}/stream", { GET: executionStream({ keyNeeds: { scope: "read" }, allowQueryToken: true }) }),
  route("/api/v1/rags/{rag_id}/documents", { POST: addRagDocument }, handleRest),
  route("/api/v1/bridge/agents/{agent_id}/chat", { POST: agentChat(ofBrowser) }, handleUnknownBridgePath),
  route("/api/v1/bridge/executions/{execution_id}/stream", { GET: executionStream(ofBrowser) }, handleUnknownBridgePath),
  route("/api/v1/bridge/rags/{rag_id}/documents", { POST: uploadRagDocument }, handleUnknownBridgePath),
  route("/api/v1/bridge", {}, handleUnknownBridgePath),
  route("/api/v1/bridge/*", {}, handleUnknownBridgePath),
  route("/api/v1/*", {}, handleRest),
];

/** The route of a path, with its parameters decoded; undefined when there is none. */
function find(path: string): { route: Route; params: Params } | undefined {
  for (const route of API_ROUTES) {
    const found = route.pattern.exec(path);
    if (!found) continue;
    const params = Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]);
    return { route, params: Object.fromEntries(params) };
  }
  return undefined;
}

/** The same request for our handlers; its body is read when they ask for it. */
function requestOf(incoming: IncomingMessage, url: URL, gone: AbortSignal): Request {
  const { headers, method = "GET" } = incoming;
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) if (one !== undefined) sent.append(name, one);
  const request = new Request(url, { method, headers: sent, signal: gone });
  return method === "GET" || method === "HEAD" ? request : bodyFrom(incoming, request);
}

/** Fires when the caller leaves before the answer has gone out. */
function departure(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

/** Smaller answers are not worth compressing, in bytes. */
const COMPRESS_FROM = 1024;
const gzipped = promisify(gzip);

/** Whether a client takes gzip. The front lets nobody ask for it but for what is read. */
const takesGzip = ({ headers }: IncomingMessage): boolean =>
  /\bgzip\b(?!\s*;\s*q=0(\.0*)?\s*(,|$))/.test(String(headers["accept-encoding"]));

async function send(answer: Response, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { body, headers, status } = answer;
  if (response.destroyed) return body?.cancel();
  response.statusCode = status;
  for (const [name, value] of headers) {
    if (name === "set-cookie") response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
  if (request.method === "HEAD" || body === null) {
    await body?.cancel();
    response.end();
  } else if (headers.get("content-type")?.startsWith("text/event-stream")) {
    // A viewer who leaves ends it, and so does the front when this process is to end.
    await pipeline(Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]), response).catch((err: unknown) =>
      log.debug({ err }, "stream cut off"),
    );
  } else {
    const whole = new Uint8Array(await answer.arrayBuffer());
    const isCompressed = whole.byteLength >= COMPRESS_FROM && takesGzip(request);
    const bytes = isCompressed ? await gzipped(whole) : whole;
    if (isCompressed) {
      response.setHeader("content-encoding", "gzip");
      response.setHeader("vary", "accept-encoding");
    }
    response.setHeader("content-length", bytes.byteLength).end(bytes);
  }
}

const NO_ADDRESS = "The address of the request cannot be read. Check its Host header.";

/**
 * Answers what is asked of the API, for programs, for pages and for Inngest; everything else goes to `next`, whose way from a request to a
 * route would cost more than a short run itself.
 */
export function answerApi(next: Handle): Handle {
  return async (request, response) => {
    const { method = "GET", url: asked = "/", headers } = request;
    const found = METHODS.has(method) && asked.startsWith("/api/") ? find(asked.split("?", 1)[0]?.replace(/\/+$/, "") ?? "") : undefined;
    if (!found) return next(request, response);
    const address = `${headers["x-forwarded-proto"]}://${headers["x-forwarded-host"]}${asked}`;
    if (!URL.canParse(address)) return answerError(response, new AppError("BAD_REQUEST", NO_ADDRESS));
    const { route, params } = found;
    const { methods, others } = route;
    const answer = methods[method as Method] ?? (method === "HEAD" ? methods.GET : undefined) ?? others; // cast: one of METHODS
    const given = requestOf(request, new URL(address), departure(response));
    await send(await answer(given, { params: params as never }), request, response); // cast: a path has the parameters that its handler takes
  };
}
