import { generateOpenApiDocument } from "trpc-to-openapi";
import { type RawOperation, rawOperations } from "#server/api/rest/raw-operations.ts";
import { jsonResponse } from "#server/api/rest/respond.ts";
import { compileRoutes, type Route } from "#server/api/rest/routes.ts";
import { appRouter } from "#server/api/root.ts";
import type { Access } from "#server/api/trpc.ts";
import { ERRORS } from "#server/errors.ts";
import { ErrorBody } from "#server/schemas/error.ts";
import { appUrl } from "#server/settings.ts";

interface Operation {
  operationId?: string;
  summary?: string;
  description?: string;
  tags?: string[];
  security?: unknown[];
  parameters?: unknown[];
  requestBody?: unknown;
  responses: Record<string, unknown>;
}

interface ApiDocument {
  openapi: string;
  info: Record<string, unknown>;
  paths: Record<string, Record<string, Operation>>;
  components: Record<string, Record<string, unknown>>;
}

const INTRODUCTION = [
  "Build agents and workflows, run them, follow and decide their runs.",
  "Send an API key as `Authorization: Bearer sk-service-…`; with several projects name one by `X-Project-Slug` or `X-Project-ID`.",
  "Lists are `{items, total, page, per_page}`, newest first; times are ISO 8601 in UTC; errors are `{detail, error_code, status, errors?}`.",
].join("\n\n");

const statusName = (status: number) => `Error${status}`;

const rateHeaders = {
  "X-RateLimit-Limit": { description: "Requests allowed in the tightest window", schema: { type: "integer" } },
  "X-RateLimit-Remaining": { description: "Requests left in it", schema: { type: "integer" } },
  "X-RateLimit-Reset": { description: "When it starts anew, in seconds since 1970", schema: { type: "integer" } },
};
const rateHeaderRefs = Object.fromEntries(Object.keys(rateHeaders).map((name) => [name, { $ref: `#/components/headers/${name}` }]));

/** The error answers of the whole API, by status; each operation refers to those that it can give. */
function errorResponses(): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(ERRORS).map(([code, { status, meaning }]) => [
      statusName(status),
      {
        description: `${code}: ${meaning}`,
        headers: {
          ...rateHeaderRefs,
          ...(status === 429 && { "Retry-After": { description: "Seconds to wait", schema: { type: "integer" } } }),
          ...(status === 405 && { Allow: { description: "Methods of this path", schema: { type: "string" } } }),
        },
        content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
      },
    ]),
  );
}

const projectParameters = {
  ProjectSlug: {
    in: "header",
    name: "X-Project-Slug",
    schema: { type: "string" },
    description: "The project by its slug. Needed when you are in several projects; wins over X-Project-ID.",
  },
  ProjectId: {
    in: "header",
    name: "X-Project-ID",
    schema: { type: "string", format: "uuid" },
    description: "The project by its id. Needed when you are in several projects and send no slug.",
  },
};
const projectParameterRefs = Object.keys(projectParameters).map((name) => ({ $ref: `#/components/parameters/${name}` }));

/** What calls a model or another service while the caller waits. */
const callsOut = /^\/(agents|llm-keys|mcp|rags)/;

function errorsOf({ method, path, access }: Route): number[] {
  const isChange = method !== "GET";
  const inProject = access === "viewer" || access === "editor" || access === "admin";
  return [
    ...(inProject || isChange ? [400] : []),
    ...(access === "public" ? [] : [401]),
    ...(inProject || path.startsWith("/projects/") || (access === "public" && isChange) ? [403] : []),
    ...(inProject || path.includes("{") ? [404] : []),
    ...(isChange ? [409, 413] : []),
    422,
    429,
    500,
    ...(callsOut.test(path) ? [502] : []),
  ];
}

const errorRefs = (statuses: number[]) =>
  Object.fromEntries(statuses.map((status) => [String(status), { $ref: `#/components/responses/${statusName(status)}` }]));

const roleNote = (access: Access): string => (access === "editor" || access === "admin" ? `Needs the role ${access}.` : "");

/** Sets right what the generator cannot know: status, errors, who may call, and the project headers. */
function finish(operation: Operation, route: Route): Operation {
  const success = operation.responses["200"] as { content?: unknown } | undefined;
  const isEmpty = route.successStatus === 204;
  const inProject = roleNote(route.access) !== "" || route.access === "viewer";
  const description = [operation.description, roleNote(route.access)].filter(Boolean).join(" ");
  return {
    ...operation,
    ...(description && { description }),
    security: route.access === "public" ? [] : [{ bearer: [] }],
    parameters: [...(operation.parameters ?? []), ...(inProject ? projectParameterRefs : [])],
    responses: {
      [route.successStatus]: {
        description: isEmpty ? "Done" : "Success",
        headers: rateHeaderRefs,
        ...(!isEmpty && { content: success?.content }),
      },
      ...errorRefs(errorsOf(route)),
    },
  };
}

const rawOperation = ({
  tag,
  scope,
  parameters = [],
  requestBody,
  success,
  errors,
  method: _,
  path: __,
  ...rest
}: RawOperation): Operation => ({
  ...rest,
  tags: [tag],
  security: scope ? [{ bearer: [] }] : [],
  parameters: [...parameters, ...(scope ? projectParameterRefs : [])],
  ...(requestBody && { requestBody }),
  responses: {
    [success.status]: { description: success.description, headers: rateHeaderRefs, content: success.content },
    ...errorRefs(errors),
  },
});

/** The OpenAPI 3.1 description of every operation under /api/v1. */
export function openApiDocument(): ApiDocument {
  const document = generateOpenApiDocument(appRouter, {
    title: "Treadle API",
    description: INTRODUCTION,
    version: "1.0.0",
    openApiVersion: "3.1.0",
    baseUrl: `${appUrl()}/api/v1`,
    docsUrl: `${appUrl()}/docs`,
    securitySchemes: { bearer: { type: "http", scheme: "bearer", description: "An API key, sk-service-…" } },
    defs: { Error: ErrorBody },
  }) as unknown as ApiDocument;
  for (const route of compileRoutes(appRouter)) {
    const item = document.paths[route.path];
    const method = route.method.toLowerCase();
    const operation = item?.[method];
    if (item && operation) item[method] = finish(operation, route);
  }
  for (const operation of rawOperations) {
    document.paths[operation.path] = { ...document.paths[operation.path], [operation.method]: rawOperation(operation) };
  }
  // The generator's own error bodies are not ours.
  const schemas = Object.fromEntries(Object.entries(document.components.schemas ?? {}).filter(([name]) => !name.startsWith("error.")));
  document.components = {
    ...document.components,
    schemas,
    headers: rateHeaders,
    parameters: projectParameters,
    responses: errorResponses(),
  };
  return document;
}

let cached: ApiDocument | undefined;

/** The document as an answer; it is made once. */
export async function openApiResponse(): Promise<Response> {
  cached ??= openApiDocument();
  const response = jsonResponse(cached);
  response.headers.set("cache-control", "public, max-age=300");
  return response;
}
