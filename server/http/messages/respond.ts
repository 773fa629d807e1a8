import { type Sending, textResponse } from "#server/http/messages/text-response.ts";
import { AppError, ERRORS, errorBody } from "#server/platform/errors.ts";
import { log, loggedPath } from "#server/platform/log.ts";
import { appErrorOf, FAULTS } from "#server/platform/rpc/trpc.ts";

const NO_STORE = { "cache-control": "no-store" };

/** Body of a response as it is sent, and the id in it. */
interface Body {
  text: string;
  id: unknown;
}

/** Id of what a body is about; undefined where it has none. */
export const idIn = (data: unknown): unknown => (Object(data) as { id?: unknown }).id;

const bodies = new WeakMap<Response, Body>();

/** Returns the body of the response to a change without deferred texts, so that it need not be read and parsed. */
export const bodyOf = (response: Response): Body | undefined => bodies.get(response);

function json(data: unknown, status: number, headers: Record<string, string>, sending?: Sending): Response {
  const text = JSON.stringify(data ?? null);
  const response = textResponse(text, status, { "content-type": "application/json", ...NO_STORE, ...headers }, sending);
  if (sending?.isOutcome && (sending.texts?.isEmpty ?? true)) bodies.set(response, { text, id: idIn(data) });
  return response;
}

/** Statuses whose responses have no body. */
const WITHOUT_BODY = [204, 205, 304];

/** A response as JSON, without a body where its status has none. */
export function jsonResponse(data: unknown, status = 200, sending?: Sending): Response {
  if (WITHOUT_BODY.includes(status)) return new Response(null, { status, headers: NO_STORE });
  return json(data, status, {}, sending);
}

/** What a limit that is used up tells: when to come again, and of one that only the error knows, its figures. */
function limitHeaders({ retryAfter, limit }: AppError): Record<string, string> {
  if (retryAfter === undefined) return {};
  const wait = Math.ceil(retryAfter);
  const reset = Math.ceil(Date.now() / 1000) + wait;
  const figures = { "x-ratelimit-limit": String(limit), "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) };
  return { "retry-after": String(wait), ...(limit !== undefined && figures) };
}

/** Any error in the envelope, with its status from the table, a challenge (RFC 6750) and the headers of a limit where the error knows one. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const known = appErrorOf(error);
  const challenge = known.code === "AUTH_REQUIRED" && { "www-authenticate": "Bearer" };
  return json(errorBody(known), ERRORS[known.code].status, { ...limitHeaders(known), ...challenge, ...headers });
}

/** The error envelope for what a raw handler threw; what nobody foresaw is logged. */
export function loggedErrorResponse(error: unknown, request: Request): Response {
  if (FAULTS.has(appErrorOf(error).code)) log.error({ err: error, path: loggedPath(new URL(request.url).pathname) }, "request failed");
  return errorResponse(error);
}

export const authRequired = (sessionOnly = false): AppError =>
  new AppError("AUTH_REQUIRED", sessionOnly ? "Sign in first." : "Send a valid API key as `Authorization: Bearer sk-service-…`.");

/** The handler for the methods that a raw route does not have: 405 naming those that it has; OPTIONS is told the same. */
export function methodNotAllowed(...allowed: string[]): (request?: Request) => Promise<Response> {
  const allow = [...allowed, "OPTIONS"].join(", ");
  return async (request) =>
    request?.method === "OPTIONS"
      ? new Response(null, { status: 204, headers: { allow, "cache-control": "no-store" } })
      : errorResponse(new AppError("METHOD_NOT_ALLOWED", `This path takes ${allow}.`), { allow });
}
