import type { ApiResponse, Parameter } from "#server/http/openapi/types.ts";
import type { Route } from "#server/http/rest/routes.ts";
import { ERRORS } from "#server/platform/errors.ts";
import type { ErrorBody, ErrorCode } from "#server/shared/error-schema.ts";

// Which errors an operation can give. What follows from the way in (reading, key, role, limits) is the same for all;
// what only the use case knows stands in the tables below, by method and path.

/** Operations against which the state of something can stand. */
const CONFLICTS: readonly RegExp[] = [
  /^POST \/(auth|invitations)\b/, // a known address, used already
  /^GET \/invitations\//, // used already
  /^PUT \/(agents|workflows|projects|rags|mcp)\/\{\w+\}$/, // a name that is taken, an old version
  /^DELETE \/(agents|workflows|llm-keys|rags|mcp|credentials)\/\{\w+\}$/, // in use
  /^DELETE \/(projects\/\{\w+\}\/members|install\/admins\/\{\w+\})$/, // the last admin
];

/** Operations that call a model or another service while the caller waits. */
const CALLS_OUT: readonly RegExp[] = [/^(POST|PUT) \/(agents|llm-keys|mcp)\b/, /^GET \/rags\/\{\w+\}\/search$/];

/** Operations without authentication that still require a session in some cases. */
const SIGN_INS: readonly RegExp[] = [/^POST \/invitations\//];

const fits = (list: readonly RegExp[], operation: string): boolean => list.some((pattern) => pattern.test(operation));

/** HTTP statuses of the errors that the operation can answer, in order. */
export function errorsOf({ method, path, access, isIdempotent }: Pick<Route, "method" | "path" | "access" | "isIdempotent">): number[] {
  const operation = `${method} ${path}`;
  const isChange = method !== "GET";
  const inProject = access !== "public" && access !== "user";
  return [
    ...(inProject || isChange ? [400] : []),
    ...(access === "public" && !fits(SIGN_INS, operation) ? [] : [401]),
    // Roles, the scopes of keys, and for a browser's session the origin of whatever changes something.
    ...(isChange || access !== "public" ? [403] : []),
    ...(inProject || path.includes("{") ? [404] : []),
    // 409 also for an Idempotency-Key that was sent before with another body.
    ...(isIdempotent || fits(CONFLICTS, operation) ? [409] : []),
    ...(isChange ? [413] : []),
    422,
    429,
    500,
    ...(fits(CALLS_OUT, operation) ? [502] : []),
  ];
}

// What stands in the document once and is referred to by every operation.

export const INTRODUCTION = [
  "Build agents and workflows, run them, follow and decide their runs.",
  "Send an API key as `Authorization: Bearer sk-service-…`; with several projects name one by `X-Project-Slug` or `X-Project-ID`.",
  "Lists are `{items, total, page, per_page}`, newest first; times are ISO 8601 in UTC; errors are `{detail, error_code, status, errors?}`.",
  "Every answer carries `X-RateLimit-Limit`, `X-RateLimit-Remaining` and `X-RateLimit-Reset` unless the install has switched these limits off. A 429 says in `Retry-After` how many seconds to wait.",
  "An account has at most 100 event streams open at once, a project 1,000. A response of which a client reads nothing for 30 seconds is closed.",
].join("\n\n");

/** What each tag holds, in the order of the document. An operation with a tag that is not here fails a test. */
export const TAGS: Readonly<Record<string, string>> = {
  Identity: "Who the caller is, accounts, sessions, new passwords and invitations.",
  Projects: "Projects, in which most resources live, and their members with roles.",
  "Platform keys": "API keys of the caller. They are personal and act as their owner, within their scopes, projects and time.",
  "Service accounts":
    "Programs with a name, a role and API keys of their own in one project. They cannot sign in, and their keys keep working when the person who created them leaves.",
  Install:
    "Who decides for the whole install: its first owner, and whom install admins name. They may save endpoints on private networks, and help users who cannot sign in.",
  "LLM keys": "The project's keys of model providers, and the providers that there are.",
  Agents: "Models with a job: a key, a model, instructions and tools.",
  Workflows: "Graphs of nodes with one trigger. Running one makes an execution.",
  Executions: "Runs of workflows: their state, results, logs and live events.",
  Reviews: "Questions to people that runs wait for.",
  Webhooks: "Signed calls from other services that start a workflow.",
  Triggers: "Workflows as HTTP endpoints of their own.",
  "RAG sources": "Knowledge that agents can search, and its documents.",
  "MCP servers": "Servers of the Model Context Protocol whose tools agents can call.",
  Skills: "Prompt bundles for agents: built-in ones and the project's own.",
  Credentials: "The project's secrets for expressions. Only their names can be read.",
  Search: "One search over everything in the project, and the guide.",
  Canvases: "Dashboards over the values of Output nodes.",
  Usage: "What agents used, in tokens and money.",
  "Audit log": "Who did what to which resource of the project.",
};

export const securitySchemes = {
  bearer: {
    type: "http",
    scheme: "bearer",
    description: "A platform API key, `sk-service-…`. The web app's own session counts too, from pages of the same origin.",
  },
  token: {
    type: "apiKey",
    in: "query",
    name: "token",
    description: "The same API key in the query, only for event streams: a browser's EventSource cannot set headers.",
  },
} as const;

export const rateHeaders = {
  "X-RateLimit-Limit": { description: "Requests allowed in the tightest window of the caller's address", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "Requests left in it", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "When it starts anew, in seconds since 1970", schema: { type: "integer" } },
};
export const rateHeaderRefs = Object.fromEntries(Object.keys(rateHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

export const sharedParameters: Record<string, Parameter> = {
  ProjectSlug: {
    in: "header",
    name: "X-Project-Slug",
    schema: { type: "string", example: "weaving" },
    description: "The project by its slug. Needed when you are in several projects; wins over X-Project-ID.",
  },
  ProjectId: {
    in: "header",
    name: "X-Project-ID",
    schema: { type: "string", format: "uuid", example: "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" },
    description: "The project by its id. Needed when you are in several projects and send no slug.",
  },
  IdempotencyKey: {
    in: "header",
    name: "Idempotency-Key",
    schema: { type: "string", minLength: 1, maxLength: 255, pattern: "^[!-~]+$", example: "order-4711" },
    description:
      "Names this call, in visible ASCII characters. For 24 hours a call with the same key and body gets the first answer again, with `Idempotent-Replayed: true`, and does nothing. The same key with another body is refused with 409; while the first call is under way it is 409 with `Retry-After: 1`. Answers 401, 403, 429 and 5xx are not kept.",
  },
};
const parameterRef = (name: string): Parameter => ({ $ref: `#/components/parameters/${name}` });
export const projectParameterRefs: Parameter[] = [parameterRef("ProjectSlug"), parameterRef("ProjectId")];
export const idempotencyParameterRefs: Parameter[] = [parameterRef("IdempotencyKey")];

const statusName = (status: number) => `Error${status}`;

function errorExample(code: ErrorCode): ErrorBody {
  const { status, meaning, hidden }: { status: number; meaning: string; hidden?: string } = ERRORS[code];
  const detail = hidden ?? `${meaning}.`;
  if (code !== "VALIDATION_ERROR") return { detail, error_code: code, status };
  const message = "There is no such field.";
  return { detail: `nmae: ${message}`, error_code: code, status, errors: [{ path: "nmae", message }] };
}

/** The error answers of the whole API, by status; each operation refers to those that it can give. */
export function errorResponses(): Record<string, ApiResponse> {
  return Object.fromEntries(
    (Object.keys(ERRORS) as ErrorCode[]).map((code) => {
      const { status, meaning } = ERRORS[code];
      const response: ApiResponse = {
        description: `${code}: ${meaning}`,
        headers: {
          ...rateHeaderRefs,
          ...(status === 401 && { "WWW-Authenticate": { description: "`Bearer`", schema: { type: "string" } } }),
          ...((status === 429 || status === 503) && { "Retry-After": { description: "Seconds to wait", schema: { type: "integer" } } }),
          ...(status === 405 && { Allow: { description: "Methods of this path", schema: { type: "string" } } }),
        },
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" }, example: errorExample(code) } },
      };
      return [statusName(status), response];
    }),
  );
}

/** Error statuses of an operation that uses the database when the service is at fault. */
const FAULTS = [500, 503, 507];

/** References to the error answers of these statuses; with 500 come those of the database. */
export const errorRefs = (statuses: readonly number[]): Record<string, ApiResponse> =>
  Object.fromEntries(
    statuses
      .flatMap((status) => (status === 500 ? FAULTS : status))
      .map((status) => [String(status), { $ref: `#/components/responses/${statusName(status)}` }]),
  );
