import { followThread } from "#server/features/assistant/events.ts";
import { findThread, projectOfThread } from "#server/features/assistant/threads.ts";
import { followCanvas } from "#server/features/canvases/live.ts";
import { CanvasDataInput, type WidgetRange } from "#server/features/canvases/schema.ts";
import { findCanvas, projectOfCanvas } from "#server/features/canvases/service.ts";
import { type ApiRouteOptions, apiRoute, inItsProject } from "#server/http/streams/api-route.ts";
import { type StreamEvent, sseResponse } from "#server/http/streams/sse.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { AppError } from "#server/platform/errors.ts";
import { projectOfExecution } from "#server/runs/store/executions.ts";
import { followExecution } from "#server/runs/use-cases/follow-execution.ts";
import { runScopeOf } from "#server/runs/use-cases/run-scope.ts";

/** How long a stream may be silent before a comment keeps the line open, in milliseconds (contract, section 1). */
const HEARTBEAT_MS = 15_000;

interface EventStream<Params> {
  /** The project of what is followed; undefined when there is no such thing. */
  projectOf(params: Params): Promise<string | undefined>;
  /**
   * What has happened since an event, and goes on to happen.
   * @param last the id of the last event that the viewer has; undefined for a first connection
   * @throws AppError NOT_FOUND; VALIDATION_ERROR for a query that it does not take
   */
  follow(
    principal: ProjectPrincipal,
    params: Params,
    last: string | undefined,
    signal: AbortSignal,
    query: URLSearchParams,
  ): Promise<AsyncGenerator<StreamEvent | "idle">>;
}

/** The number after which a viewer wants events. */
const numberOf = (last = ""): number => (/^\d{1,9}$/.test(last) ? Number(last) : 0);

const eventStream =
  <Params extends Record<string, string>>({ projectOf, follow }: EventStream<Params>) =>
  (options: ApiRouteOptions) => {
    const route = apiRoute<Params>(async (request, { principal, params, signal, reserveStream }) => {
      reserveStream();
      const query = new URL(request.url).searchParams;
      // What the browser sends on a reconnect, else the query.
      const last = request.headers.get("last-event-id") ?? query.get("last_event_id") ?? undefined;
      return sseResponse(await follow(principal, params, last, signal, query));
    }, options);
    return inItsProject(route, projectOf);
  };

/**
 * `GET …/executions/{execution_id}/stream`: every event since the beginning, or since Last-Event-ID, then new ones as they
 * happen, exactly one terminal event, and the end. Membership of the project is checked as everywhere.
 */
export const executionStream = eventStream<{ execution_id: string }>({
  projectOf: ({ execution_id }) => projectOfExecution(execution_id),
  follow: (principal, { execution_id }, last, signal) =>
    followExecution({ ...runScopeOf(principal), execution_id }, numberOf(last), signal, HEARTBEAT_MS),
});

/** `GET …/threads/{thread_id}/stream`: the same of a thread of the assistant; it ends only when that is deleted, for more may be written at any time. */
export const threadStream = eventStream<{ thread_id: string }>({
  projectOf: ({ thread_id }) => projectOfThread(thread_id),
  async follow(principal, { thread_id }, last, signal) {
    await findThread(principal, thread_id);
    return followThread(thread_id, numberOf(last), signal, HEARTBEAT_MS);
  },
});

/**
 * `GET …/canvases/{canvas_id}/stream`: the widgets of a canvas whose data change, for as long as there is the canvas. Its events
 * are not kept, so their ids say what a viewer has, and a first connection is sent nothing old.
 */
export const canvasStream = eventStream<{ canvas_id: string }>({
  projectOf: ({ canvas_id }) => projectOfCanvas(canvas_id),
  async follow({ project }, { canvas_id }, last, signal, query) {
    await findCanvas(project.id, canvas_id);
    return followCanvas({ canvas_id, range: rangeOf(query) }, last, signal, HEARTBEAT_MS);
  },
});

function rangeOf(query: URLSearchParams): WidgetRange | undefined {
  const parsed = CanvasDataInput.shape.range.safeParse(query.get("range") ?? undefined);
  if (parsed.success) return parsed.data;
  const errors = [{ path: "range", message: parsed.error.issues[0]?.message ?? "It is not valid." }];
  throw new AppError("VALIDATION_ERROR", `range: ${errors[0]?.message}`, { errors });
}
