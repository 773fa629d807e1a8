import { AppError, ERRORS, errorBody } from "#server/platform/errors.ts";
import { log, loggedPath } from "#server/platform/log.ts";
import { appErrorOf } from "#server/platform/rpc/trpc.ts";

const NO_STORE = { "cache-control": "no-store" };

function json(data: unknown, status: number, headers: Record<string, string>): Response {
  const body = JSON.stringify(data ?? null);
  const described = { "content-type": "application/json", "content-length": String(Buffer.byteLength(body)) };
  return new Response(body, { status, headers: { ...described, ...NO_STORE, ...headers } });
}

/** An answer as JSON; 204 has no body. */
export function jsonResponse(data: unknown, status = 200): Response {
  if (status === 204) return new Response(null, { status, headers: NO_STORE });
  return json(data, status, {});
}

/** What a limit that is used up tells: when to come again, and of one that only the error knows, its figures. */
function limitHeaders({ retryAfter, limit }: AppError): Record<string, string> {
  if (retryAfter === undefined) return {};
  const wait = Math.ceil(retryAfter);
  const reset = Math.ceil(Date.now() / 1000) + wait;
  const figures = { "x-ratelimit-limit": String(limit), "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(reset) };
  return { "retry-after": String(wait), ...(limit !== undefined && figures) };
}

/** Any error in the envelope, with its status from the table and the headers of a limit where the error knows one. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const known = appErrorOf(error);
  return json(errorBody(known), ERRORS[known.code].status, { ...limitHeaders(known), ...headers });
}

/** The error envelope for what a raw handler threw; what nobody foresaw is logged. */
export function loggedErrorResponse(error: unknown, request: Request): Response {
  if (appErrorOf(error).code === "INTERNAL_ERROR")
    log.error({ err: error, path: loggedPath(new URL(request.url).pathname) }, "request failed");
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
