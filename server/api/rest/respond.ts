import { appErrorOf } from "#server/api/trpc.ts";
import { ERRORS, errorBody } from "#server/errors.ts";

const NO_STORE = { "cache-control": "no-store" };

/** A body whose length is told: without it, Next compresses even a few bytes, which costs more than sending them. */
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

/** Any error in the envelope, with its status from the table and Retry-After where the error knows it. */
export function errorResponse(error: unknown, headers: Record<string, string> = {}): Response {
  const known = appErrorOf(error);
  const retry = known.retryAfter === undefined ? {} : { "retry-after": String(Math.ceil(known.retryAfter)) };
  return json(errorBody(known), ERRORS[known.code].status, { ...retry, ...headers });
}
