/** An operation of the REST API that has a route handler of its own instead of a procedure, for the API document. */
export interface RawOperation {
  method: "get" | "post" | "put" | "patch" | "delete";
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
const json = (schema: Record<string, unknown>) => ({ "application/json": { schema } });
const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const httpResult = {
  type: "object",
  properties: {
    execution_id: text,
    status: schemaRef("ExecutionStatus"),
    output: { type: ["string", "null"], description: "With 200: the output of the run" },
    error: { ...text, description: "Why a run failed" },
  },
  required: ["execution_id", "status"],
};
const workflowId = { in: "path", name: "workflow_id", required: true, schema: text, description: "UUID v7" };

const httpTrigger = (method: RawOperation["method"]): RawOperation => ({
  method,
  path: "/http/{workflow_id}",
  tag: "Triggers",
  operationId: `http-trigger-${method}`,
  summary: `Call an HTTP trigger with ${method.toUpperCase()}`,
  description:
    "Runs a workflow whose trigger is HTTP, if that allows the method (else 405). Its output is JSON with `method`, `headers`, `query` and `body`. With response mode `sync` the answer waits for the end of the run: 200 `{execution_id, status, output}`; 202 without output after 60 seconds or at a review. With `async` it is 202 at once. A disabled workflow answers 409. Without a project header the workflow says which project is meant.",
  scope: "project",
  parameters: [workflowId],
  ...(method !== "get" && {
    requestBody: { description: "Anything; JSON is parsed", content: { ...json({}), "text/plain": { schema: text } } },
  }),
  success: { status: 200, description: "How the run ended (202: it goes on)", content: json(httpResult) },
  errors: [400, 401, 403, 404, 405, 409, 413, 422, 429, 500],
});

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
  {
    method: "post",
    path: "/webhooks/{workflow_id}",
    tag: "Webhooks",
    operationId: "webhooks-receive",
    summary: "Send to a webhook",
    description:
      "For senders: no key, the signature over the raw body is the proof. Its HMAC-SHA256 is keyed by the secret of the setup. A repeated `Idempotency-Key` (or the sender's own delivery id, such as `X-GitHub-Delivery`) gives the first execution again. A missing or wrong signature and an unknown workflow are the same 401; then 409 when the workflow is disabled, 400 when the body is not JSON, 422 when the trigger's payload path leads nowhere.",
    scope: null,
    parameters: [
      workflowId,
      { in: "header", name: "X-SERVICE-Signature", required: true, schema: text, description: "sha256=<hex HMAC-SHA256 of the raw body>" },
      { in: "header", name: "Idempotency-Key", schema: text, description: "Names the delivery, so that repeating it starts nothing" },
    ],
    requestBody: { required: true, content: json({}) },
    success: { status: 202, description: "The run is queued", content: json(schemaRef("ExecuteResult")) },
    errors: [400, 401, 405, 409, 413, 422, 429, 500],
  },
  ...(["get", "post", "put", "patch", "delete"] as const).map(httpTrigger),
];
