import { memberOf } from "#server/features/projects/members.ts";
import { authRequired, loggedErrorResponse } from "#server/http/messages/respond.ts";
import { openStream } from "#server/http/streams/open-streams.ts";
import { createContext, type DoorOptions } from "#server/http/trpc/context.ts";
import { follow } from "#server/platform/abort.ts";
import { assertRole, type ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { keepFrontFacts } from "#server/platform/auth/request-origin.ts";
import { appErrorOf } from "#server/platform/rpc/trpc.ts";
import type { Role } from "#server/shared/primitives-schema.ts";

/** How often it is asked whether who opened a stream may still have it, in milliseconds. */
const RECHECK_MS = 15_000;

export type ApiRouteOptions = DoorOptions & {
  /** The role in the project that is needed; viewer unless given. */
  role?: Role;
};

/** What a raw route handler is called with, besides the request. */
export interface ApiCall<Params> {
  principal: ProjectPrincipal;
  params: Params;
  /** Fires when the caller goes away, and when a stream's caller may no longer see it. */
  signal: AbortSignal;
  /** Counts this call as an event stream. For a handler that does work before it answers. @throws AppError RATE_LIMIT_EXCEEDED */
  reserveStream(): void;
}

type RouteHandler<Params> = (request: Request, context: { params: Params }) => Promise<Response>;

/**
 * Makes a route handler of `handler` for what a procedure cannot do (event streams, uploads): the same
 * authentication, project and role as everywhere, and whatever it throws is answered in the error envelope.
 */
export function apiRoute<Params extends Record<string, string | string[]>>(
  handler: (request: Request, call: ApiCall<Params>) => Promise<Response>,
  { role = "viewer", ...door }: ApiRouteOptions,
): RouteHandler<Params> {
  return async (request, context) => {
    let release: (() => void) | undefined;
    try {
      const call = await createContext(request, door);
      if (!call.principal) throw authRequired(door.sessionOnly);
      const principal = await call.project(call.principal);
      assertRole(principal, role);
      const revoked = new AbortController();
      follow(revoked, request.signal);
      const reserveStream = () => {
        release ??= openStream(principal.user.id, principal.project.id);
      };
      const given = { principal, params: context.params, signal: revoked.signal, reserveStream };
      const response = withTransport(await handler(request, given));
      if (!isStream(response)) return response;
      reserveStream();
      return whileAllowed(
        response,
        () => isAllowed(request, door, principal, role),
        revoked,
        () => release?.(),
      );
    } catch (error) {
      release?.();
      return loggedErrorResponse(error, request);
    }
  };
}

/** Event sources and links cannot set headers, so without a project header what is asked for says itself which project is meant. */
async function withProject(request: Request, projectOf: () => Promise<string | undefined>): Promise<Request> {
  const isNamed = request.headers.has("x-project-id") || request.headers.has("x-project-slug");
  const project = isNamed ? undefined : await projectOf();
  if (!project) return request;
  const headers = new Headers(request.headers);
  headers.set("x-project-id", project);
  const named = new Request(request.url, { headers, signal: request.signal });
  keepFrontFacts(request.headers, named.headers);
  return named;
}

/**
 * The same route, for callers that cannot name a project.
 * @param projectOf the project of what is asked for; undefined when there is no such thing
 */
export const inItsProject =
  <Params>(route: RouteHandler<Params>, projectOf: (params: Params) => Promise<string | undefined>): RouteHandler<Params> =>
  async (request, context) => {
    const within = await withProject(request, () => projectOf(context.params));
    const response = await route(within, context);
    // What is in a project that the caller is not in is told as what there is not, in the same words.
    return response.status === 404 && within !== request ? route(request, context) : response;
  };

const isStream = (response: Response): boolean => response.headers.get("content-type")?.startsWith("text/event-stream") === true;

/**
 * Whether who opened a stream may still have it: the session or the key is good, and so is the role in the project. A database that
 * cannot be asked changes nothing.
 */
async function isAllowed(request: Request, door: DoorOptions, { project }: ProjectPrincipal, role: Role): Promise<boolean> {
  try {
    const { principal } = await createContext(request, door);
    if (!principal) return false;
    await memberOf(principal, project.id, role);
    return true;
  } catch (error) {
    const { code } = appErrorOf(error);
    return !["AUTH_REQUIRED", "NOT_FOUND", "PERMISSION_DENIED"].includes(code);
  }
}

/** The same stream, for as long as `stillAllowed` says so, which is asked every 15 seconds. */
function whileAllowed(response: Response, stillAllowed: () => Promise<boolean>, revoked: AbortController, onEnd: () => void): Response {
  const reader = response.body?.getReader();
  if (!reader) {
    onEnd();
    return response;
  }
  let isOver = false;
  let timer: ReturnType<typeof setInterval>;
  const over = () => {
    isOver = true;
    clearInterval(timer);
    onEnd();
  };
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      timer = setInterval(async () => {
        if (revoked.signal.aborted) return over();
        if ((await stillAllowed()) || isOver) return;
        over();
        controller.close();
        revoked.abort();
        await reader.cancel();
      }, RECHECK_MS);
    },
    async pull(controller) {
      try {
        const { value, done } = await reader.read();
        if (isOver) return;
        if (!done) return controller.enqueue(value);
        over();
        controller.close();
      } catch (error) {
        over();
        throw error;
      }
    },
    async cancel(reason) {
      over();
      revoked.abort(); // else its end would wait for what it waits for, a comment after 15 seconds at the latest
      await reader.cancel(reason);
    },
  });
  return new Response(body, { status: response.status, headers: response.headers });
}

/** Nothing on the way may keep an answer, nor hold a stream back to compress or buffer it. */
function withTransport(response: Response): Response {
  if (isStream(response)) {
    response.headers.set("cache-control", "no-store, no-transform");
    response.headers.set("x-accel-buffering", "no");
  } else if (!response.headers.has("cache-control")) response.headers.set("cache-control", "no-store");
  return response;
}
