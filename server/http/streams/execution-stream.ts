import { type ApiRouteOptions, apiRoute } from "#server/http/streams/api-route.ts";
import { sseResponse } from "#server/http/streams/sse.ts";
import { projectOfExecution } from "#server/runs/store/executions.ts";
import { followExecution } from "#server/runs/use-cases/follow-execution.ts";

type Params = { execution_id: string };

/** How long a stream may be silent before a comment keeps the line open, in milliseconds (contract, section 1). */
const HEARTBEAT_MS = 15_000;

/** The number after which a viewer wants events: what the browser sends on a reconnect, else the query. */
function lastEventId(request: Request): number {
  const text = request.headers.get("last-event-id") ?? new URL(request.url).searchParams.get("last_event_id") ?? "0";
  return /^\d{1,9}$/.test(text) ? Number(text) : 0;
}

/** Event sources cannot set headers, so without a project header the execution itself says which project is meant. */
async function withProject(request: Request, { execution_id }: Params): Promise<Request> {
  const isNamed = request.headers.has("x-project-id") || request.headers.has("x-project-slug");
  const project = isNamed ? undefined : await projectOfExecution(execution_id);
  if (!project) return request;
  const headers = new Headers(request.headers);
  headers.set("x-project-id", project);
  return new Request(request.url, { headers, signal: request.signal });
}

/**
 * `GET …/executions/{execution_id}/stream`: every event since the beginning, or since Last-Event-ID, then new ones as they
 * happen, exactly one terminal event, and the end. Membership of the project is checked as everywhere.
 */
export function executionStream(options: ApiRouteOptions) {
  const route = apiRoute<Params>(async (request, { principal, params, signal }) => {
    const { execution_id } = params;
    const events = await followExecution({ project_id: principal.project.id, execution_id }, lastEventId(request), signal, HEARTBEAT_MS);
    return sseResponse(events);
  }, options);
  return async (request: Request, context: { params: Params }) => route(await withProject(request, context.params), context);
}
