import { appErrorOf } from "#server/api/trpc.ts";
import { ERRORS, errorBody } from "#server/errors.ts";

const NO_STORE = { "cache-control": "no-store" };

/** An answer as JSON; 204 has no body. */
export function jsonResponse(data: unknown, status = 200): Response {
  if (status === 204) return new Response(null, { status, headers: NO_STORE });
  return Response.json(data ?? null, { status, headers: NO_STORE });
}

/** Any error in the envelope, with its status from the table and Retry-After where the error knows it. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const known = appErrorOf(error);
  const retry = known.retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(known.retryAfter)) };
  return Response.json(errorBody(known), { status: ERRORS[known.code].status, headers: { ...NO_STORE, ...retry, ...headers } });
}
