import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { answerApi, findRoute } from "#server/http/api.ts";
import { answerError } from "#server/http/front/error-answers.ts";
import { bodyFrom, headersFrom } from "#server/http/messages/read-json.ts";
import { AppError } from "#server/platform/errors.ts";
import { log } from "#server/platform/log.ts";

type Handle = (request: IncomingMessage, response: ServerResponse) => Promise<void> | void;

/** The same request for our handlers; its body is read when they ask for it. */
function requestOf(incoming: IncomingMessage, url: string, gone: AbortSignal): Request {
  const { headers, method = "GET" } = incoming;
  const sent = new Headers();
  for (const [name, value] of Object.entries(headers)) for (const one of [value].flat()) if (one !== undefined) sent.append(name, one);
  const request = headersFrom(incoming, new Request(url, { method, headers: sent, signal: gone }));
  return method === "GET" ? request : bodyFrom(incoming, request);
}

/** Fires when the caller leaves before the answer has gone out. */
function departure(response: ServerResponse): AbortSignal {
  const gone = new AbortController();
  response.once("close", () => {
    if (!response.writableFinished) gone.abort();
  });
  return gone.signal;
}

async function send(answer: Response, response: ServerResponse): Promise<void> {
  // Of a short one the whole, in one write; of a long one a piece at a time.
  const isLong = answer.headers.get("cache-control")?.includes("no-transform") === true;
  const body = isLong ? "" : await answer.text();
  if (response.destroyed) return void answer.body?.cancel().catch(() => undefined);
  response.statusCode = answer.status;
  for (const [name, value] of answer.headers) response.setHeader(name, value);
  if (!isLong || !answer.body) return void response.end(body);
  // cast: the stream class of node:stream/web is the global one, declared twice
  await pipeline(Readable.fromWeb(answer.body as never), response).catch((err: unknown) => log.debug({ err }, "answer not delivered"));
}

/**
 * Answers what starts runs without Next, whose way from a request to a route costs more than the run itself; everything
 * else goes to `next`. What answers is the same that Next's route handler calls.
 */
export function startRunsDirectly(next: Handle): Handle {
  return async (request, response) => {
    const { method = "", url = "/", headers } = request;
    const route = url.startsWith("/api/v1/") ? findRoute(url.split("?", 1)[0] ?? "")?.route : undefined;
    if (!route?.startsRuns || !(method in route.methods)) return next(request, response);
    const address = `${headers["x-forwarded-proto"]}://${headers["x-forwarded-host"]}${url}`;
    if (!URL.canParse(address))
      return answerError(response, new AppError("BAD_REQUEST", "The address of the request cannot be read. Check its Host header."));
    await send(await answerApi(requestOf(request, address, departure(response))), response);
  };
}
