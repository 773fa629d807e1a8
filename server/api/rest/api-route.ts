import { createContext, type DoorOptions } from "#server/api/context.ts";
import { errorResponse } from "#server/api/rest/respond.ts";
import { appErrorOf } from "#server/api/trpc.ts";
import type { ProjectPrincipal } from "#server/auth/principal.ts";
import { assertRole } from "#server/auth/roles.ts";
import { AppError } from "#server/errors.ts";
import { log } from "#server/log.ts";
import type { Role } from "#server/schemas/primitives.ts";

export type ApiRouteOptions = DoorOptions & {
  /** The role in the project that is needed; viewer unless given. */
  role?: Role;
};

/** What a raw route handler is called with, besides the request. */
interface ApiCall<Params> {
  principal: ProjectPrincipal;
  params: Params;
}

type RouteHandler<Params> = (request: Request, context: { params: Promise<Params> }) => Promise<Response>;

/**
 * Makes a Next route handler of `handler` for what a procedure cannot do (event streams, uploads): the same
 * authentication, project and role as everywhere, and whatever it throws is answered in the error envelope.
 */
export function apiRoute<Params extends Record<string, string | string[]>>(
  handler: (request: Request, call: ApiCall<Params>) => Promise<Response>,
  { role = "viewer", ...door }: ApiRouteOptions,
): RouteHandler<Params> {
  return async (request, context) => {
    try {
      const call = await createContext(request, door);
      if (!call.principal) throw authRequired(door.sessionOnly);
      const principal = await call.project(call.principal);
      assertRole(principal, role);
      const response = await handler(request, { principal, params: await context.params });
      return withTransport(response);
    } catch (error) {
      return loggedErrorResponse(error, request);
    }
  };
}

/** Nothing on the way may keep an answer, nor hold a stream back to compress or buffer it. */
function withTransport(response: Response): Response {
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream");
  if (isStream) {
    response.headers.set("cache-control", "no-store, no-transform");
    response.headers.set("x-accel-buffering", "no");
  } else if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
  return response;
}

/** The error envelope for what a raw handler threw; what nobody foresaw is logged. */
export function loggedErrorResponse(error: unknown, request: Request): Response {
  if (appErrorOf(error).code === "INTERNAL_ERROR") log.error({ err: error, path: new URL(request.url).pathname }, "request failed");
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
