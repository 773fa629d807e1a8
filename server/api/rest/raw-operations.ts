/** An operation of the REST API that has a route handler of its own instead of a procedure, for the API document. */
export interface RawOperation {
  method: "get" | "post";
  path: string;
  tag: string;
  operationId: string;
  summary: string;
  description: string;
  /** Whether the call happens inside a project; null: not even a key is needed. */
  scope: "project" | null;
  parameters?: Record<string, unknown>[];
  requestBody?: Record<string, unknown>;
  success: { status: number; description: string; content: Record<string, unknown> };
  errors: number[];
}

const text = { type: "string" };

export const rawOperations: RawOperation[] = [
  {
    method: "get",
    path: "/executions/{execution_id}/stream",
    tag: "Executions",
    operationId: "executions-stream",
    summary: "Follow an execution",
    description:
      "Server-sent events: `node_start`, `node_delta`, `node_complete`, `node_failed`, `node_skipped`, `loop_progress`, `execution_paused`, `execution_resumed`, and one `execution_complete` or `execution_failed`, after which the stream closes. Each has an `id`; send the last one back to go on from there. A browser's EventSource cannot set headers, so the key may also come as `?token=`.",
    scope: "project",
    parameters: [
      { in: "path", name: "execution_id", required: true, schema: text, description: "UUID v7" },
      { in: "query", name: "token", schema: text, description: "API key, where no header can be set" },
      { in: "query", name: "last_event_id", schema: { type: "integer", minimum: 0 }, description: "Go on after this event" },
      { in: "header", name: "Last-Event-ID", schema: { type: "integer", minimum: 0 }, description: "Go on after this event" },
    ],
    success: { status: 200, description: "The events", content: { "text/event-stream": { schema: text } } },
    errors: [400, 401, 404, 429, 500],
  },
];
