import type { IncomingMessage } from "node:http";

const METHODS = "GET, HEAD, POST, PUT, PATCH, DELETE";
const REQUEST_HEADERS = "Authorization, Content-Type, Idempotency-Key, Last-Event-ID, X-Project-ID, X-Project-Slug";
const RESPONSE_HEADERS = "X-RateLimit-Limit, X-RateLimit-Remaining, X-RateLimit-Reset, Retry-After, Idempotent-Replayed, WWW-Authenticate";
/** Seconds for which a browser may keep the answer to a preflight request. */
const MAX_AGE_SECONDS = 600;

/** Returns true when a browser asks if it may send a request to another origin (Fetch standard, CORS preflight). */
export const isPreflight = ({ method, headers }: IncomingMessage): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined;

/**
 * Headers by which a browser lets a page of a listed origin use the API with a key; none for another origin and for our own. They
 * never allow credentials, and the request loses its cookies: a session does not count across origins.
 */
export function allowOrigin(request: IncomingMessage, origins: readonly string[]): Record<string, string> | undefined {
  const { headers } = request;
  const { origin } = headers;
  if (origin === undefined || !origins.includes(origin)) return undefined;
  if (origin === `${headers["x-forwarded-proto"]}://${headers["x-forwarded-host"]}`) return undefined;
  delete headers.cookie;
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": RESPONSE_HEADERS,
    Vary: "Origin",
    ...(isPreflight(request) && {
      "Access-Control-Allow-Methods": METHODS,
      "Access-Control-Allow-Headers": REQUEST_HEADERS,
      "Access-Control-Max-Age": String(MAX_AGE_SECONDS),
    }),
  };
}
