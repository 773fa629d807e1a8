import { generateOpenApiDocument } from "trpc-to-openapi";
import type { z } from "zod";
import { createSchema } from "zod-openapi";
import { jsonResponse } from "#server/http/messages/respond.ts";
import { addExamples } from "#server/http/openapi/examples.ts";
import { describeNodes } from "#server/http/openapi/graph-nodes.ts";
import {
  errorRefs,
  errorResponses,
  errorsOf,
  INTRODUCTION,
  idempotencyParameterRefs,
  projectParameterRefs,
  rateHeaderRefs,
  rateHeaders,
  securitySchemes,
  sharedParameters,
  TAGS,
} from "#server/http/openapi/parts.ts";
import { componentSchemas, type RawOperation, rawOperations, requestSchemas } from "#server/http/openapi/raw-operations.ts";
import { tidy } from "#server/http/openapi/tidy.ts";
import type { ApiDocument, JsonSchema, Operation, Parameter } from "#server/http/openapi/types.ts";
import { compileRoutes, type Route } from "#server/http/rest/routes.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import type { KeyNeeds } from "#server/platform/auth/rights.ts";
import type { ApiMeta } from "#server/platform/rpc/trpc.ts";
import { appUrl } from "#server/platform/settings.ts";
import { Id } from "#server/shared/primitives-schema.ts";

const ACCESS: Record<NonNullable<Route["needs"]>, string> = {
  public: "Needs no key.",
  user: "Any valid key may call it.",
  install_admin: "Only install admins may call it.",
  viewer: "Any member of the project may call it.",
  approver: "Needs the role approver or editor.",
  editor: "Needs the role editor.",
  admin: "Needs the role admin.",
};

const scopeSentence = (needs: KeyNeeds | null): string =>
  needs
    ? `A key needs the scope \`${needs.scope}\`${needs.isOpenToRun ? " or `run`" : ""}${needs.isAccountWide ? " and all projects" : ""}.`
    : "";

/** `llmKeys.list` is `llm-keys-list`. */
const operationIdOf = (procedure: string): string =>
  procedure.replaceAll(".", "-").replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const NOUNS: Record<string, string> = { cred: "credential", mcp: "MCP server", rag: "RAG source" };

/** The description nearest to the outside: the generator loses that of a wrapper such as `.optional()`. */
function descriptionOf(schema: z.ZodType | undefined): string | undefined {
  if (!schema) return undefined;
  return schema.meta()?.description ?? descriptionOf((schema.def as { innerType?: z.ZodType }).innerType);
}

/** What a parameter is, where its own description only says how it is written. */
function described(parameter: Parameter, { fields }: Route): Parameter {
  const { name = "" } = parameter;
  const description = descriptionOf(fields[name]);
  if (!name.endsWith("_id") || description !== Id.description) return { ...parameter, ...(description && { description }) };
  const stem = name.slice(0, -"_id".length);
  return { ...parameter, description: `Id of the ${NOUNS[stem] ?? stem.replaceAll("_", " ")}, ${description}` };
}

/** Sets right what the generator cannot know: name, status, errors, who may call, shared headers. */
function finish(operation: Operation, route: Route): Operation {
  const success = operation.responses["200"];
  const isEmpty = route.successStatus === 204;
  const inProject = route.access !== "public" && route.access !== "user";
  const body = operation.requestBody;
  // An absent body counts as {}.
  if (body) body.required = (body.content["application/json"]?.schema?.required?.length ?? 0) > 0;
  return {
    ...operation,
    operationId: operationIdOf(route.procedure),
    description: [operation.description, ACCESS[route.needs ?? route.access], scopeSentence(route.keyNeeds)].filter(Boolean).join(" "),
    "x-required-role": route.needs,
    "x-required-scope": route.keyNeeds?.scope,
    security: route.access === "public" ? [] : [{ bearer: [] }],
    parameters: [
      ...(operation.parameters ?? []).map((parameter) => described(parameter, route)),
      ...(inProject ? projectParameterRefs : []),
      ...(route.isIdempotent ? idempotencyParameterRefs : []),
    ],
    responses: {
      [route.successStatus]: {
        description: isEmpty ? "Done" : "Success",
        headers: rateHeaderRefs,
        ...(!isEmpty && success?.content && { content: success.content }),
      },
      ...errorRefs(errorsOf(route)),
    },
  };
}

function rawOperation({
  tag,
  needs,
  scope,
  parameters = [],
  security,
  success,
  also = {},
  errors,
  requestBody,
  method,
  isIdempotent = scope !== null && method === "post",
  keyNeeds,
  description,
  path: _,
  ...rest
}: RawOperation): Operation {
  return {
    ...rest,
    description: [description, scopeSentence(keyNeeds)].filter(Boolean).join(" "),
    tags: [tag],
    "x-required-role": needs,
    "x-required-scope": keyNeeds?.scope,
    security: security ?? (scope ? [{ bearer: [] }] : []),
    parameters: [...parameters, ...(scope ? projectParameterRefs : []), ...(isIdempotent ? idempotencyParameterRefs : [])],
    ...(requestBody && { requestBody }),
    responses: {
      [success.status]: { description: success.description, headers: rateHeaderRefs, content: success.content },
      ...Object.fromEntries(Object.entries(also).map(([status, response]) => [status, { headers: rateHeaderRefs, ...response }])),
      ...errorRefs(errors),
    },
  };
}

/** Adds the shapes of bodies that no procedure takes, as they are sent. */
function addRequestSchemas({ components }: ApiDocument): void {
  for (const [name, schema] of Object.entries(requestSchemas)) {
    const made = createSchema(schema, { io: "input", openapiVersion: "3.1.0" });
    const own = "$ref" in made.schema ? {} : { [name]: made.schema };
    components.schemas = {
      ...(JSON.parse(JSON.stringify({ ...own, ...made.components })) as Record<string, JsonSchema>),
      ...components.schemas,
    };
  }
}

/**
 * The OpenAPI 3.1 description of every operation under /api/v1.
 * @param sessionOnly that of the web app's own operations instead, which nobody is shown
 */
export function openApiDocument(sessionOnly = false): ApiDocument {
  const generated = generateOpenApiDocument<ApiMeta>(appRouter, {
    filter: ({ metadata }) => (metadata.sessionOnly ?? false) === sessionOnly,
    title: "Treadle API",
    description: INTRODUCTION,
    version: "1.0.0",
    openApiVersion: "3.1.0",
    baseUrl: `${appUrl()}/api/v1`,
    docsUrl: `${appUrl()}/docs`,
    securitySchemes,
    defs: componentSchemas,
  });
  // A copy of its own: the generator shares parts between operations.
  const document: ApiDocument = JSON.parse(JSON.stringify(generated));
  addRequestSchemas(document);
  document.info.license = { name: "Apache License 2.0", identifier: "Apache-2.0" };
  for (const route of compileRoutes(appRouter, sessionOnly)) {
    const item = document.paths[route.path];
    const method = route.method.toLowerCase();
    const operation = item?.[method];
    if (item && operation) item[method] = finish(operation, route);
  }
  for (const operation of sessionOnly ? [] : rawOperations) {
    document.paths[operation.path] = { ...document.paths[operation.path], [operation.method]: rawOperation(operation) };
  }
  tidy(document);
  describeNodes(document);
  Object.assign(document.components, { headers: rateHeaders, parameters: sharedParameters, responses: errorResponses() });
  const used = new Set(Object.values(document.paths).flatMap((item) => Object.values(item).flatMap(({ tags = [] }) => tags)));
  document.tags = [...Object.keys(TAGS), ...[...used].filter((name) => !(name in TAGS))]
    .filter((name) => used.has(name))
    .map((name) => ({ name, description: TAGS[name] ?? "" }));
  addExamples(document);
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
