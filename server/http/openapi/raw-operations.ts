import { ChatBody, ChatEvent, TryAgentBody } from "#server/features/agents/schema.ts";
import { CanvasEvent, WidgetRange } from "#server/features/canvases/schema.ts";
import { HttpTriggerError, HttpTriggerResult } from "#server/features/http-trigger/schema.ts";
import { AddRagDocumentBody } from "#server/features/knowledge/schema.ts";
import type { ApiResponse, MediaType, Operation, Parameter } from "#server/http/openapi/types.ts";
import type { KeyNeeds } from "#server/platform/auth/rights.ts";
import type { Access } from "#server/platform/rpc/trpc.ts";
import { ExecutionEvent } from "#server/runs/event-schema.ts";
import { ErrorBody } from "#server/shared/error-schema.ts";

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
  /** Who may call. */
  needs: Access;
  /** What a platform key must be good for, as its handler demands; null where none is needed. */
  keyNeeds: KeyNeeds | null;
  /** How the key is sent, when not only as a bearer token. */
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  /** Whether it takes an Idempotency-Key; left out, a POST in a project does. */
  isIdempotent?: boolean;
  requestBody?: NonNullable<Operation["requestBody"]>;
  success: { status: number; description: string; content: Record<string, MediaType> };
  /** Further successes by status. */
  also?: Record<string, ApiResponse>;
  errors: number[];
}

const text = { type: "string" };
const schemaRef = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: Record<string, unknown>, example?: unknown): Record<string, MediaType> => ({
  "application/json": { schema, ...(example !== undefined && { example }) },
});
/** The schema is that of one event's data. */
const events = (name: string): Record<string, MediaType> => ({ "text/event-stream": { schema: schemaRef(name) } });

/** Shapes that no procedure of the router refers to. */
export const componentSchemas = { CanvasEvent, ChatEvent, Error: ErrorBody, ExecutionEvent, HttpTriggerError, HttpTriggerResult };

/** Those among them that are sent: what has a default may be left out. */
export const requestSchemas = { AddRagDocumentBody, ChatBody, TryAgentBody };

const pathId = (name: string, what: string): Parameter => ({
  in: "path",
  name,
  required: true,
  schema: { ...text, example: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" },
  description: `Id of the ${what}, UUID v7`,
});
const workflowId = pathId("workflow_id", "workflow");

const httpTrigger = (method: RawOperation["method"]): RawOperation => ({
  method,
  path: "/http/{workflow_id}",
  tag: "Triggers",
  operationId: `http-trigger-${method}`,
  summary: `Call an HTTP trigger with ${method.toUpperCase()}`,
  description:
    "Runs a workflow whose trigger is HTTP, if that allows the method (else 405). Its output is JSON with `method`, `headers`, `query` and `body`; a name that comes several times has a list. With response mode `sync` the response waits for the end of the run: 200 `{execution_id, status, output}`; 202 without output after 60 seconds or at a review; 502 `UPSTREAM_ERROR` for a failed or cancelled run and 409 `CONFLICT` for a rejected one, each with `execution_id` and `run_status`. `error_status` of the trigger replaces 502 and 409. With `async` it is 202 at once. A disabled workflow answers 409. A call that cannot start a run leaves a failed execution. Without a project header the workflow says which project is meant. GET needs an API key: a browser's session is refused with 403.",
  scope: "project",
  needs: "editor",
  keyNeeds: { scope: "run" },
  parameters: [workflowId],
  isIdempotent: true,
  ...(method !== "get" && {
    requestBody: {
      description:
        "Anything; what is JSON is parsed, what says that it is JSON must be, and a form becomes an object of its fields. May be packed with gzip, deflate, br or zstd",
      content: {
        ...json({}, { days: 3 }),
        "application/x-www-form-urlencoded": { schema: { type: "object" } },
        "multipart/form-data": { schema: { type: "object" } },
        "text/plain": { schema: text },
      },
    },
  }),
  success: { status: 200, description: "How the run ended", content: json(schemaRef("HttpTriggerResult")) },
  also: {
    202: { description: "The run goes on", content: json(schemaRef("ExecuteResult")) },
    409: {
      description: "The run was rejected (with `execution_id` and `run_status`), or the workflow is disabled",
      content: json({ anyOf: [schemaRef("HttpTriggerError"), schemaRef("Error")] }),
    },
    502: { description: "The run failed or was cancelled", content: json(schemaRef("HttpTriggerError")) },
  },
  errors: [400, 401, 403, 404, 405, 413, 415, 422, 429, 500],
});

export const rawOperations: RawOperation[] = [
  {
    method: "get",
    path: "/executions/{execution_id}/stream",
    tag: "Executions",
    operationId: "executions-stream",
    summary: "Follow an execution",
    description:
      "Server-sent events: `node_start`, `node_delta`, `node_complete`, `node_failed`, `node_skipped`, `loop_progress`, `node_waiting`, `execution_paused`, `execution_resumed`, and one `execution_complete` or `execution_failed`, after which the stream closes. Each has an `id`; send the last one back to go on from there. A browser's EventSource cannot set headers, so the key may also come as `?token=`.",
    scope: "project",
    needs: "viewer",
    keyNeeds: { scope: "read", isOpenToRun: true },
    parameters: [
      pathId("execution_id", "execution"),
      { in: "query", name: "last_event_id", schema: { type: "integer", minimum: 0 }, description: "Go on after this event" },
      { in: "header", name: "Last-Event-ID", schema: { type: "integer", minimum: 0 }, description: "Go on after this event" },
    ],
    security: [{ bearer: [] }, { token: [] }],
    success: {
      status: 200,
      description: "The events: `event` is the type, `data` JSON of this shape, `id` a number that counts up",
      content: events("ExecutionEvent"),
    },
    errors: [400, 401, 403, 404, 429, 500],
  },
  {
    method: "get",
    path: "/canvases/{canvas_id}/stream",
    tag: "Canvases",
    operationId: "canvases-stream",
    summary: "Follow a canvas",
    description:
      "Server-sent events: `canvas_data` `{canvas_id, widgets}` with the widgets that changed, each as in `/data`, within two seconds of the end of a run; and `canvas_changed` `{canvas_id, updated_at}` when the canvas itself was changed, to be read again then. A first connection is sent nothing old: ask for `/data` once it is open. Each event has an `id` that says what you have; send the last one back and you are sent what has changed since. In between only the newest is sent, however often something changes. The stream ends when the canvas is deleted. A browser's EventSource cannot set headers, so the key may also come as `?token=`.",
    scope: "project",
    needs: "viewer",
    keyNeeds: { scope: "read" },
    parameters: [
      pathId("canvas_id", "canvas"),
      {
        in: "query",
        name: "range",
        schema: { type: "string", enum: WidgetRange.options },
        description: "In place of every widget's own range",
      },
      { in: "query", name: "last_event_id", schema: text, description: "Send what has changed since this event" },
      { in: "header", name: "Last-Event-ID", schema: text, description: "Send what has changed since this event" },
    ],
    security: [{ bearer: [] }, { token: [] }],
    success: {
      status: 200,
      description: "The events: `event` is the type, `data` JSON of this shape, `id` a text that says what you have",
      content: events("CanvasEvent"),
    },
    errors: [400, 401, 403, 404, 422, 429, 500],
  },
  {
    method: "get",
    path: "/canvases/{canvas_id}/data.csv",
    tag: "Canvases",
    operationId: "canvases-csv",
    summary: "Download what a widget shows",
    description:
      "One widget as CSV (RFC 4180, UTF-8 without a byte order mark, a header line): the points of a chart or of a number over several executions, the rows of a table, or the one value; each line ends with the execution that it comes from and when that completed. As many lines as `/data` has, and no more. A text that a spreadsheet would take for a formula has an apostrophe before it. A canvas says itself which project is meant, so that a link in a browser will do.",
    scope: "project",
    needs: "viewer",
    keyNeeds: { scope: "read" },
    parameters: [
      pathId("canvas_id", "canvas"),
      { in: "query", name: "widget_id", required: true, schema: text, description: "Id of the widget" },
      {
        in: "query",
        name: "range",
        schema: { type: "string", enum: WidgetRange.options },
        description: "In place of the widget's own range",
      },
    ],
    success: { status: 200, description: "The lines", content: { "text/csv": { schema: text, example: "month,revenue\r\nMay,12.5\r\n" } } },
    errors: [400, 401, 403, 404, 405, 422, 429, 500],
  },
  {
    method: "post",
    path: "/agents/{agent_id}/chat",
    tag: "Agents",
    operationId: "agents-chat",
    summary: "Chat with an agent",
    description:
      "Answers with server-sent events: `delta` `{content}` for each piece of the answer, `tool_call` `{id, name, args}`, `tool_result` `{id, name, result, success}`, and one `done` `{input_tokens, output_tokens, cost}` or `error` `{detail}`, after which the stream closes. Each has an `id` that counts up. With `stream: false` one JSON answer comes at the end. Nothing is kept: send earlier turns as `history`. A call of the model that fails before the first event is a 502. When the client goes away, the call is aborted. An `Idempotency-Key` counts with `stream: false` only. Needs the role editor.",
    scope: "project",
    needs: "editor",
    keyNeeds: { scope: "run" },
    parameters: [pathId("agent_id", "agent")],
    requestBody: { required: true, content: json(schemaRef("ChatBody"), { message: "What moved this week?" }) },
    success: {
      status: 200,
      description: "The events: `event` is the type, `data` JSON of this shape; or the whole answer with `stream: false`",
      content: { ...events("ChatEvent"), ...json(schemaRef("AgentReply")) },
    },
    errors: [400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 502],
  },
  {
    method: "post",
    path: "/agents/try",
    tag: "Agents",
    operationId: "agents-try",
    summary: "Try a configuration of an agent",
    description:
      "Asks an agent as the body describes it, saved or not: with its model, tools, knowledge and skills, under the rules of a chat. Nothing is kept but what it used. One JSON answer, or with `stream: true` the events of a chat. An `Idempotency-Key` counts without `stream` only. Needs the role editor.",
    scope: "project",
    needs: "editor",
    keyNeeds: { scope: "write" },
    parameters: [],
    requestBody: {
      required: true,
      content: json(schemaRef("TryAgentBody"), {
        config: { llm_key_id: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10", model: "gpt-4.1-mini", system_prompt: "Answer in one line." },
        message: "Write a line about looms.",
      }),
    },
    success: {
      status: 200,
      description: "The whole answer; with `stream: true` events: `event` is the type, `data` JSON of this shape",
      content: { ...json(schemaRef("AgentReply")), ...events("ChatEvent") },
    },
    errors: [400, 401, 403, 404, 405, 409, 413, 422, 429, 500, 502],
  },
  {
    method: "post",
    path: "/rags/{rag_id}/documents",
    tag: "RAG sources",
    operationId: "rags-add-document",
    summary: "Add a document",
    description:
      "Takes `{title, text}`, `{url}` or a file as multipart/form-data: text, Markdown, HTML, PDF or DOCX. It is indexed in the background: poll its `status`. Content that the source already has is a 409 naming the document; one that failed is replaced. A source of another type than `documents` answers 409. Needs the role editor.",
    scope: "project",
    needs: "editor",
    keyNeeds: { scope: "write" },
    parameters: [pathId("rag_id", "RAG source")],
    requestBody: {
      required: true,
      content: {
        ...json(schemaRef("AddRagDocumentBody"), {
          title: "House rules",
          text: "# Quiet hours\n\nFrom ten in the evening to six in the morning.",
        }),
        "multipart/form-data": {
          schema: {
            type: "object",
            properties: {
              file: { type: "string", format: "binary", description: "The file, with its name" },
              title: {
                ...text,
                maxLength: 300,
                description: "Title in place of the one in a Markdown file's front matter, or else the file's name",
              },
            },
            required: ["file"],
          },
        },
      },
    },
    success: { status: 201, description: "The document, to be indexed", content: json(schemaRef("RagDocument")) },
    errors: [400, 401, 403, 404, 409, 413, 422, 429, 500],
  },
  {
    method: "post",
    path: "/webhooks/{workflow_id}",
    tag: "Webhooks",
    operationId: "webhooks-receive",
    summary: "Send to a webhook",
    description:
      "For senders: no key, what the trigger asks for (`auth` of its data) is the proof: by default the signature over the raw body, whose HMAC-SHA256 is keyed by the secret of the setup, else what the chosen service or Standard Webhooks send, a secret in a header, HTTP Basic authentication, or nothing. A question of the chosen sender about the address (`url_verification` of Slack, `endpoint.url_validation` of Zoom, `validationToken` of Microsoft Graph, the `SubscriptionValidationEvent` of Event Grid) is answered with 200 and starts no run; `auth: none` answers all of them. A repeated `Idempotency-Key` (or the sender's own delivery id, such as `X-GitHub-Delivery`) gives the first execution again. The timestamp of the chosen sender, or `X-SERVICE-Timestamp`, may be 5 minutes off, that of Linear 1 minute. A missing or wrong proof and an unknown workflow are the same 401, a right signature with another time a 401 that says so; then 409 when the workflow is disabled, 400 when the body cannot be read, 415 when its charset or content encoding is unknown, 422 when there is nothing at the one place that the trigger's payload path names.",
    scope: null,
    needs: "public",
    keyNeeds: null,
    parameters: [
      workflowId,
      {
        in: "header",
        name: "X-SERVICE-Signature",
        schema: text,
        description: "sha256=<hex HMAC-SHA256 of the raw body>, unless the trigger names another sender",
      },
      { in: "header", name: "Idempotency-Key", schema: text, description: "Names the delivery, so that repeating it starts nothing" },
    ],
    requestBody: {
      required: false,
      description:
        "JSON, a form (an object of its fields), multipart/form-data (files as name, size and type), XML or other text; empty starts a run with empty input. May be packed with gzip, deflate, br or zstd",
      content: {
        ...json({}, { issue: { title: "It is broken" } }),
        "application/x-www-form-urlencoded": { schema: { type: "object" } },
        "multipart/form-data": { schema: { type: "object" } },
        "text/plain": { schema: text },
      },
    },
    success: { status: 202, description: "The run is queued", content: json(schemaRef("ExecuteResult")) },
    also: {
      200: {
        description: "Answer to a question about the address, as plain text or, where the sender demands it, as JSON",
        content: { "text/plain": { schema: text }, "application/json": { schema: { type: "object" } } },
      },
    },
    errors: [400, 401, 405, 409, 413, 415, 422, 429, 500],
  },
  {
    method: "get",
    path: "/webhooks/{workflow_id}",
    tag: "Webhooks",
    operationId: "webhooks-verify",
    summary: "Verify the address of a webhook",
    description:
      "For senders: answers the question of the trigger's sender about the address with the text that it sent, of 4,096 characters at most. Meta sends `hub.mode`, `hub.challenge` and `hub.verify_token`, which must be `verify_token` of the trigger; Dropbox sends `challenge`. Trello's question is HEAD, answered with 200. Event Grid with CloudEvents sends OPTIONS with `WebHook-Request-Origin` and the secret in the query, answered with 200 and `WebHook-Allowed-Origin`. `auth: none` answers all of them. No question starts a run. Any other request, a webhook of another sender and an unknown workflow are the same 401.",
    scope: null,
    needs: "public",
    keyNeeds: null,
    parameters: [
      workflowId,
      { in: "query", name: "hub.mode", schema: { ...text, example: "subscribe" }, description: "Meta: `subscribe`" },
      { in: "query", name: "hub.challenge", schema: { ...text, example: "1158201444" }, description: "Meta: text to answer with" },
      {
        in: "query",
        name: "hub.verify_token",
        schema: { ...text, example: "meatyhamhock" },
        description: "Meta: `verify_token` of the trigger",
      },
      { in: "query", name: "challenge", schema: { ...text, example: "random-text" }, description: "Dropbox: text to answer with" },
    ],
    success: { status: 200, description: "The text of the question", content: { "text/plain": { schema: text } } },
    errors: [401, 405, 429, 500],
  },
  {
    method: "post",
    path: "/resume/{token}",
    tag: "Executions",
    operationId: "executions-resume",
    summary: "Resume a node that waits for a call",
    description:
      "For the caller that has the URL (`{{label.resume_url}}` of a Wait for a call; `node_results[id].resume_url` while it waits): no key, the token is the secret, and it counts once. The body is the node's output. 404 for a token that there is not, 409 when it was used, came too late, or its run has ended.",
    scope: null,
    needs: "public",
    keyNeeds: null,
    parameters: [
      {
        in: "path",
        name: "token",
        required: true,
        schema: { ...text, example: "AZqPPlt6fFWdHwtsL2-aEFq2…" },
        description: "The end of the address",
      },
    ],
    requestBody: { required: false, description: "Any JSON, of 1,000,000 characters at most", content: json({}, { paid: true }) },
    success: {
      status: 200,
      description: "The run goes on",
      content: json({ type: "object", properties: { status: text }, required: ["status"] }, { status: "resumed" }),
    },
    errors: [400, 404, 405, 409, 413, 422, 429, 500],
  },
  ...(["get", "post", "put", "patch", "delete"] as const).map(httpTrigger),
];
