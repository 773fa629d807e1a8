import { createConfig, lintFromString } from "@redocly/openapi-core";
import { expect, test } from "vitest";
import type { z } from "zod";
import { API_ROUTES } from "#server/http/api.ts";
import { openApiDocument } from "#server/http/openapi/document.ts";
import { TAGS } from "#server/http/openapi/parts.ts";
import { componentSchemas } from "#server/http/openapi/raw-operations.ts";
import { type JsonSchema, objectsIn, resolveRef } from "#server/http/openapi/types.ts";
import { compileRoutes } from "#server/http/rest/routes.ts";
import { appRouter } from "#server/http/trpc/root.ts";
import { findFaults } from "#server/workflow/graph.ts";

const document = openApiDocument();
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, method, path, operation })),
);

test("a public linter finds nothing", async () => {
  const config = await createConfig({
    extends: ["recommended-strict"],
    rules: {
      // An install on one's own machine is at localhost, and says so.
      "no-server-example.com": "off",
      // Beyond what is recommended:
      "operation-description": "error",
      "operation-singular-tag": "error",
      "operation-tag-defined": "error",
      "operation-operationId-url-safe": "error",
      "operation-4xx-response": "error",
      "parameter-description": "error",
      "tag-description": "error",
      "no-duplicated-tag-names": "error",
      "no-invalid-parameter-examples": "error",
      "path-excludes-patterns": { severity: "error", patterns: ["[A-Z]+-"] },
    },
  });
  const problems = await lintFromString({ source: JSON.stringify(document), absoluteRef: "/openapi.json", config });
  expect(problems.map(({ ruleId, message, location }) => `${ruleId}: ${message} ${location[0]?.pointer}`)).toEqual([]);
});

test("every route of the API is described with the status that it answers", () => {
  for (const { method, path, successStatus } of compileRoutes(appRouter)) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    const successes = Object.keys(operation?.responses ?? {}).filter((status) => Number(status) < 300);
    expect([method, path, successes]).toEqual([method, path, [String(successStatus)]]);
  }
});

test("every route handler beside the adapter is described", () => {
  const isOurs = (path: string) => !/^\/(bridge|openapi\.json|\*)/.test(path);
  const ofRest = API_ROUTES.flatMap(({ path }) => (path.startsWith("/api/v1/") ? [path.slice("/api/v1".length)] : []));
  const handled = ofRest.filter(isOurs);
  expect(handled.length).toBeGreaterThan(2);
  for (const path of handled) expect(document.paths, path).toHaveProperty([path]);
});

test("every operation has a name of its own in kebab case, a summary without a full stop, a sentence about it and a known tag", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { name, operation } of operations) {
    expect(operation.operationId, name).toMatch(/^[a-z]+(-[a-z]+)*$/);
    expect(operation.summary, name).toMatch(/[^.]$/);
    expect(operation.description, name).toMatch(/[.…]$/);
    expect(
      operation.tags?.every((tag) => tag in TAGS),
      `${name}: describe the tag ${operation.tags} in parts.ts`,
    ).toBe(true);
  }
});

/** The production schemas of what an operation takes and answers. */
function schemasOf(route: { procedure: string; path: string }) {
  const procedure = (appRouter._def.procedures as unknown as Record<string, { _def: { inputs: z.ZodType[]; output?: z.ZodType } }>)[
    route.procedure
  ];
  return { input: procedure?._def.inputs.at(-1), output: procedure?._def.output };
}

test("every operation with a JSON body has examples, and the production schemas take them", () => {
  for (const route of compileRoutes(appRouter)) {
    const name = `${route.method} ${route.path}`;
    const operation = document.paths[route.path]?.[route.method.toLowerCase()];
    const { input, output } = schemasOf(route);
    const body = operation?.requestBody?.content["application/json"];
    if (body) {
      const isNumber = (key: string) => route.fields[key]?.safeParse(1).success;
      const inPath = Object.fromEntries([...route.path.matchAll(/\{(\w+)\}/g)].map(([, key = ""]) => [key, isNumber(key) ? 1 : "x"]));
      expect(input?.safeParse({ ...(body.example as object), ...inPath }).error, name).toBeUndefined();
    }
    if (route.successStatus === 204) continue;
    const answer = operation?.responses[route.successStatus]?.content?.["application/json"];
    expect(answer?.example, name).toBeDefined();
    expect(output?.safeParse(answer?.example).error, name).toBeUndefined();
    expect(output?.parse(answer?.example), `${name}: the example has no field beyond the schema`).toEqual(answer?.example);
  }
});

test("the graph of the examples can be saved", () => {
  const example = document.paths["/workflows"]?.post?.requestBody?.content["application/json"]?.example as Parameters<typeof findFaults>[0];
  expect(findFaults(example)).toEqual([]);
  expect(example.nodes).not.toHaveLength(0);
});

test("nodes are a union of their types, each with the fields of its config", () => {
  const schemas = document.components.schemas ?? {};
  const { mapping } = resolveRef(document, { $ref: "#/components/schemas/GraphNode" } as JsonSchema).discriminator as {
    mapping: Record<string, string>;
  };

  expect(Object.keys(mapping)).toContain("humanLoopNode");
  expect(schemas.GraphNode?.oneOf).toHaveLength(Object.keys(mapping).length);
  expect(schemas.HumanLoopNode?.properties?.data).toEqual({ $ref: "#/components/schemas/HumanLoopNodeData" });
  expect(schemas.HumanLoopNodeData?.properties).toMatchObject({ label: {}, timeout_hours: { type: "number" } });
  expect(schemas.HumanLoopNodeData?.additionalProperties).not.toBe(false);
});

test("the parameters of a path are described, those of a query have a schema", () => {
  for (const { name, path, operation } of operations) {
    const parameters = (operation.parameters ?? []).map((parameter) => resolveRef(document, parameter));
    const inPath = parameters.filter((parameter) => parameter.in === "path").map((parameter) => parameter.name);
    expect(inPath, name).toEqual([...path.matchAll(/\{(\w+)\}/g)].map(([, key]) => key));
    for (const parameter of parameters) {
      expect(parameter.description, `${name} ${parameter.name}`).toBeTruthy();
      expect(parameter.schema, `${name} ${parameter.name}`).toBeDefined();
    }
  }
});

test("operations in a project take the project headers and need a key; public ones need nothing", () => {
  const list = document.paths["/agents"]?.get;
  expect(list?.parameters).toContainEqual({ $ref: "#/components/parameters/ProjectSlug" });
  expect(list?.security).toEqual([{ bearer: [] }]);
  expect(Object.keys(list?.responses ?? {})).toEqual(["200", "400", "401", "403", "404", "422", "429", "500", "503", "507"]);
  const create = document.paths["/agents"]?.post;
  expect(Object.keys(create?.responses ?? {})).toEqual([
    "201",
    "400",
    "401",
    "403",
    "404",
    "409",
    "413",
    "422",
    "429",
    "500",
    "502",
    "503",
    "507",
  ]);
  expect(create?.parameters).toContainEqual({ $ref: "#/components/parameters/IdempotencyKey" });
  for (const method of ["get", "post", "put", "patch", "delete"] as const)
    expect(document.paths["/http/{workflow_id}"]?.[method]?.parameters).toContainEqual({ $ref: "#/components/parameters/IdempotencyKey" });
  expect(document.paths["/webhooks/{workflow_id}"]?.post?.parameters).not.toContainEqual({
    $ref: "#/components/parameters/IdempotencyKey",
  });
  const signUp = document.paths["/auth/sign-up"]?.post;
  expect(signUp?.security).toEqual([]);
  expect(signUp?.responses).not.toHaveProperty("401");
});

test("every answer names the rate limit headers", () => {
  for (const { name, operation } of operations) {
    for (const [status, response] of Object.entries(operation.responses)) {
      expect(Object.keys(resolveRef(document, response).headers ?? {}), `${name} ${status}`).toContain("X-RateLimit-Remaining");
    }
  }
});

test("event streams name the shapes of their events, each with its type", () => {
  const streams = operations.flatMap(({ name, operation }) => {
    const media = operation.responses["200"]?.content?.["text/event-stream"];
    return media ? [{ name, operation, schema: resolveRef(document, media.schema ?? {}) }] : [];
  });
  expect(streams.map(({ name }) => name)).toContain("GET /executions/{execution_id}/stream");
  for (const { name, schema } of streams) {
    expect(schema.oneOf?.length, name).toBeGreaterThan(1);
    expect(Object.keys((schema.discriminator as { mapping: object }).mapping), name).toHaveLength(schema.oneOf?.length ?? 0);
  }
  expect(document.paths["/executions/{execution_id}/stream"]?.get?.security).toEqual([{ bearer: [] }, { token: [] }]);
});

test("errors are described by our own envelope only, which is what the server sends", () => {
  expect(Object.keys(document.components.schemas ?? {}).filter((name) => /error/i.test(name))).toEqual(["Error", "HttpTriggerError"]);
  expect(document.components.responses?.Error429).toMatchObject({ headers: { "Retry-After": {} } });
  for (const [name, response] of Object.entries(document.components.responses ?? {})) {
    const { example } = response.content?.["application/json"] ?? {};
    expect(componentSchemas.Error.parse(example), name).toEqual(example);
    expect(name).toBe(`Error${(example as { status: number }).status}`);
  }
});

test("no shape stands in it twice under two names", () => {
  const names = Object.keys(document.components.schemas ?? {});
  expect(names.filter((name) => name.endsWith("OutputOutput") || name === "GraphNodeOutput" || name.endsWith("EventOutput"))).toEqual([]);
  for (const part of objectsIn(document)) if (typeof part.$ref === "string") resolveRef(document, part as { $ref: string });
});
