import { followThread } from "#server/features/assistant/events.ts";
import { findThread, projectOfThread } from "#server/features/assistant/threads.ts";
import { type ApiRouteOptions, apiRoute } from "#server/http/streams/api-route.ts";
import { type StreamEvent, sseResponse } from "#server/http/streams/sse.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { projectOfExecution } from "#server/runs/store/executions.ts";
import { followExecution } from "#server/runs/use-cases/follow-execution.ts";

/** How long a stream may be silent before a comment keeps the line open, in milliseconds (contract, section 1). */
const HEARTBEAT_MS = 15_000;

interface EventStream<Params> {
  /** The project of what is followed; undefined when there is no such thing. */
  projectOf(params: Params): Promise<string | undefined>;
  /**
   * What has happened since event number `after`, and goes on to happen.
   * @throws AppError NOT_FOUND
   */
  follow(principal: ProjectPrincipal, params: Params, after: number, signal: AbortSignal): Promise<AsyncGenerator<StreamEvent | "idle">>;
}

/** The number after which a viewer wants events: what the browser sends on a reconnect, else the query. */
function lastEventId(request: Request): number {
  const text = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("last_event_id") ?? "0";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Event sources cannot set headers, so without a project header what is followed says itself which project is meant. */
async function withProject(request: Request, projectOf: () => Promise<string | undefined>): Promise<Request> {
  const isNamed = request.headers.has("x-project-id") || request.headers.has("x-project-slug");
  const project = isNamed ? undefined : await projectOf();
  if (!project) return request;
  const headers = new Headers(request.headers);
  headers.set("x-project-id", project);
  return new Request(request.url, { headers, signal: request.signal });
}

const eventStream =
  <Params extends Record<string, string>>({ projectOf, follow }: EventStream<Params>) =>
  (options: ApiRouteOptions) => {
    const route = apiRoute<Params>(
      async (request, { principal, params, signal }) => sseResponse(await follow(principal, params, lastEventId(request), signal)),
      options,
    );
    return async (request: Request, context: { params: Params }) => {
      const within = await withProject(request, () => projectOf(context.params));
      const response = await route(within, context);
      // What is in a project that the caller is not in is told as what there is not, in the same words.
      return response.status === 404 && within !== request ? route(request, context) : response;
    };
  };

/**
 * `GET …/executions/{execution_id}/stream`: every event since the beginning, or since Last-Event-ID, then new ones as they
 * happen, exactly one terminal event, and the end. Membership of the project is checked as everywhere.
 */
export const executionStream = eventStream<{ execution_id: string }>({
  projectOf: ({ execution_id }) => projectOfExecution(execution_id),
  follow: ({ project }, { execution_id }, after, signal) =>
    followExecution({ project_id: project.id, execution_id }, after, signal, HEARTBEAT_MS),
});

/** `GET …/threads/{thread_id}/stream`: the same of a thread of the assistant; it has no end, for more may be written at any time. */
export const threadStream = eventStream<{ thread_id: string }>({
  projectOf: ({ thread_id }) => projectOfThread(thread_id),
  async follow(principal, { thread_id }, after, signal) {
    await findThread(principal, thread_id);
    return followThread(thread_id, after, signal, HEARTBEAT_MS);
  },
});
