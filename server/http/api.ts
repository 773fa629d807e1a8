import { health, readiness } from "#server/http/health.ts";
import { answerInngest } from "#server/http/inngest.ts";
import { errorResponse, methodNotAllowed } from "#server/http/messages/respond.ts";
import { handleBridge, handleRest } from "#server/http/rest/rest.ts";
import { agentChat, agentTrial } from "#server/http/streams/agent-chat.ts";
import { canvasCsv } from "#server/http/streams/canvas-csv.ts";
import { canvasStream, executionStream, threadStream } from "#server/http/streams/event-streams.ts";
import { httpTrigger } from "#server/http/streams/http-trigger.ts";
import { incomingWebhook, verifyWebhook } from "#server/http/streams/incoming-webhook.ts";
import { addRagDocument, uploadRagDocument } from "#server/http/streams/rag-documents.ts";
import { resume } from "#server/http/streams/resume.ts";
import { handleTrpc } from "#server/http/trpc/handler.ts";
import { unsubscribe, unsubscribePage } from "#server/http/unsubscribe.ts";
import { takeFrontHeaders } from "#server/platform/auth/request-origin.ts";
import { AppError } from "#server/platform/errors.ts";

type Params = Record<string, string>;
type Answer = (request: Request, context: { params: never }) => Promise<Response>;
type Method = "GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE" | "OPTIONS";

interface Route {
  path: string;
  pattern: RegExp;
  methods: Partial<Record<Method, Answer>>;
  /** Answers every other method. */
  others: Answer;
  /** It starts runs: answered in front of Next, whose way from a request to a route costs more than a short run itself. */
  startsRuns: boolean;
}

/**
 * @param path with its parameters in braces; a star at its end stands for the rest, whatever it is
 * @param options `others`: answers other methods; left out, they are refused, naming those that there are
 */
function route(
  path: string,
  methods: Route["methods"],
  { others, startsRuns = false }: Partial<Pick<Route, "others" | "startsRuns">> = {},
): Route {
  const source = path
    .replaceAll(".", "\\.")
    .replace(/\{(\w+)\}/g, "(?<$1>[^/]+)")
    .replace(/\*$/, ".*");
  const names = Object.keys(methods).flatMap((name) => (name === "GET" ? ["GET", "HEAD"] : name === "OPTIONS" ? [] : [name]));
  return { path, pattern: new RegExp(`^${source}$`), methods, others: others ?? methodNotAllowed(...new Set(names)), startsRuns };
}

const keyToRun = { keyNeeds: { scope: "run" } } as const;
const keyToWrite = { keyNeeds: { scope: "write" } } as const;
// The web app's own: the browser session only, and it does not spend the API's budget.
const ofBrowser = { sessionOnly: true } as const;

/** What is answered under /api, the first whose path fits; next-auth has a route handler of its own. */
export const API_ROUTES: readonly Route[] = [
  route("/api/health", { GET: health }),
  route("/api/health/ready", { GET: readiness }),
  route("/api/inngest", { GET: answerInngest, POST: answerInngest, PUT: answerInngest }),
  route("/api/emails/{token}/unsubscribe", { GET: unsubscribePage, POST: unsubscribe }),
  route("/api/trpc/{procedures}", { GET: handleTrpc, POST: handleTrpc }),
  // Few ask for it, and what writes it is a fortieth of what a start loads.
  route("/api/v1/openapi.json", { GET: async () => (await import("#server/http/openapi/document.ts")).openApiResponse() }),
  route(
    "/api/v1/webhooks/{workflow_id}",
    { GET: verifyWebhook, HEAD: verifyWebhook, POST: incomingWebhook, OPTIONS: verifyWebhook },
    { startsRuns: true },
  ),
  route(
    "/api/v1/http/{workflow_id}",
    {
      GET: httpTrigger,
      POST: httpTrigger,
      PUT: httpTrigger,
      PATCH: httpTrigger,
      DELETE: httpTrigger,
    },
    { startsRuns: true },
  ),
  route("/api/v1/resume/{token}", { POST: resume }),
  route("/api/v1/workflows/{workflow_id}/execute", { POST: handleRest }, { others: handleRest, startsRuns: true }),
  route("/api/v1/agents/try", { POST: agentTrial(keyToWrite) }, { others: handleRest }),
  route("/api/v1/agents/{agent_id}/chat", { POST: agentChat(keyToRun) }),
  route("/api/v1/executions/{execution_id}/stream", {
    GET: executionStream({ keyNeeds: { scope: "read", isOpenToRun: true }, allowQueryToken: true }),
  }),
  route("/api/v1/canvases/{canvas_id}/stream", { GET: canvasStream({ keyNeeds: { scope: "read" }, allowQueryToken: true }) }),
  route("/api/v1/canvases/{canvas_id}/data.csv", { GET: canvasCsv({ keyNeeds: { scope: "read" } }) }),
  route("/api/v1/rags/{rag_id}/documents", { POST: addRagDocument }, { others: handleRest }),
  route("/api/v1/bridge/agents/try", { POST: agentTrial(ofBrowser) }, { others: handleBridge }),
  route("/api/v1/bridge/agents/{agent_id}/chat", { POST: agentChat(ofBrowser) }, { others: handleBridge }),
  route("/api/v1/bridge/executions/{execution_id}/stream", { GET: executionStream(ofBrowser) }, { others: handleBridge }),
  route("/api/v1/bridge/canvases/{canvas_id}/stream", { GET: canvasStream(ofBrowser) }, { others: handleBridge }),
  route("/api/v1/bridge/threads/{thread_id}/stream", { GET: threadStream(ofBrowser) }, { others: handleBridge }),
  route("/api/v1/bridge/rags/{rag_id}/documents", { POST: uploadRagDocument }, { others: handleBridge }),
  route("/api/v1/bridge", {}, { others: handleBridge }),
  route("/api/v1/bridge/*", {}, { others: handleBridge }),
  route("/api/v1/*", {}, { others: handleRest }),
];

/**
 * The route of a path, with its parameters decoded.
 * @returns undefined when there is none, or the path cannot be read
 */
export function findRoute(pathname: string): { route: Route; params: Params } | undefined {
  const path = pathname.replace(/(?<!\/)\/+$/, "");
  for (const route of API_ROUTES) {
    const found = route.pattern.exec(path);
    if (!found) continue;
    try {
      const params = Object.entries(found.groups ?? {}).map(([name, text]) => [name, decodeURIComponent(text)]);
      return { route, params: Object.fromEntries(params) };
    } catch {
      return undefined;
    }
  }
  return undefined;
}

/** Answers a request to the API: of programs, of pages and of an Inngest server. Never throws for what a caller did wrong. */
export async function answerApi(request: Request): Promise<Response> {
  takeFrontHeaders(request.headers);
  const found = findRoute(new URL(request.url).pathname);
  if (!found)
    return errorResponse(new AppError("NOT_FOUND", "There is nothing at this path. The API's paths are listed at /api/v1/openapi.json."));
  const { methods, others } = found.route;
  const method = request.method as Method; // cast: of another one the table has nothing
  const isHead = method === "HEAD" && !methods.HEAD && methods.GET !== undefined;
  const answer = await ((isHead ? methods.GET : methods[method]) ?? others)(request, { params: found.params as never }); // cast: a path has the parameters that its handler takes
  if (!isHead) return answer;
  await answer.body?.cancel();
  return new Response(null, answer);
}
