import type { IncomingMessage, ServerResponse } from "node:http";
import { bodyFrom } from "#server/http/rest/read-json.ts";
import { startRun } from "#server/http/rest/rest-start-run.ts";
import { httpTrigger } from "#server/http/streams/http-trigger.ts";
import { incomingWebhook } from "#server/http/streams/incoming-webhook.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;
type Answer = (request: Request, workflow_id: string) => Promise<Response>;

const given = (workflow_id: string) => ({ params: Promise.resolve({ workflow_id }) });

const ID = "([0-9a-fA-F-]{36})";

interface Route {
  path: RegExp;
  methods: readonly string[];
  answer: Answer;
  /** Whether its answer may wait for a run, and so wants to know when the caller has gone. */
  waits?: boolean;
}

// The paths that start runs, each with the handler that its route under app/api/v1 has too.
const ROUTES: readonly Route[] = [
  { path: new RegExp(`^/api/v1/webhooks/${ID}$`), methods: ["POST"], answer: (request, id) => incomingWebhook(request, given(id)) },
  {
    path: new RegExp(`^/api/v1/http/${ID}(?:\\?|$)`),
    methods: ["GET", "POST", "PUT", "PATCH", "DELETE"],
    answer: (request, id) => httpTrigger(request, given(id)),
    waits: true,
  },
  { path: new RegExp(`^/api/v1/workflows/${ID}/execute$`), methods: ["POST"], answer: startRun },
];

/** The same request for our handlers; its body is read when they ask for it. */
function requestOf(incoming: IncomingMessage, gone?: AbortSignal): Request {
  const { headers, method = "GET", url = "/" } = incoming;
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) if (one !== undefined) sent.append(name, one);
  const request = new Request(`${headers["x-forwarded-proto"]}://${headers["x-forwarded-host"]}${url}`, {
    method,
    headers: sent,
    ...(gone && { signal: gone }),
  });
  return method === "GET" ? request : bodyFrom(incoming, request);
}

/** Fires when the caller leaves before the answer. */
function departure(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  const body = await answer.text();
  if (response.destroyed) return;
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  response.end(body);
}

/**
 * Answers what starts runs without Next, whose way from a request to a route costs more than the run itself; everything
 * else goes to `next`. The handlers are those of the routes.
 */
export function shortWay(next: Handle): Handle {
  return async (request, response) => {
    for (const { path, methods, answer, waits } of ROUTES) {
      const id = methods.includes(request.method ?? "") ? path.exec(request.url ?? "")?.[1] : undefined;
      if (id !== undefined) return send(await answer(requestOf(request, waits ? departure(response) : undefined), id), response);
    }
    return next(request, response);
  };
}
