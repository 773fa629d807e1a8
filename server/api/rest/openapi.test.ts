import { expect, test } from "vitest";
import { openApiDocument } from "#server/api/rest/openapi.ts";
import { compileRoutes } from "#server/api/rest/routes.ts";
import { appRouter } from "#server/api/root.ts";

const document = openApiDocument();
const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
);

function refsIn(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(refsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => (key === "$ref" ? [String(inner)] : refsIn(inner)));
}

test("every route of the API is described with the status that it answers", () => {
  for (const { method, path, successStatus } of compileRoutes(appRouter)) {
    const operation = document.paths[path]?.[method.toLowerCase()];
    const successes = Object.keys(operation?.responses ?? {}).filter((status) => Number(status) < 300);
    expect([method, path, successes]).toEqual([method, path, [String(successStatus)]]);
  }
});

test("every reference leads somewhere", () => {
  for (const ref of new Set(refsIn(document))) {
    const found = ref
      .slice(2)
      .split("/")
      .reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
    expect(found, ref).toBeDefined();
  }
});

test("every operation has a name of its own, a summary and a tag", () => {
  const ids = operations.map(({ operation }) => operation.operationId);
  expect(new Set(ids).size).toBe(ids.length);
  for (const { name, operation } of operations) {
    expect(operation.summary, name).toBeTruthy();
    expect(operation.tags, name).toHaveLength(1);
  }
});

test("operations in a project take the project headers and need a key; public ones need nothing", () => {
  const list = document.paths["/agents"]?.get;
  expect(list?.parameters).toContainEqual({ $ref: "#/components/parameters/ProjectSlug" });
  expect(list?.security).toEqual([{ bearer: [] }]);
  expect(Object.keys(list?.responses ?? {})).toEqual(["200", "400", "401", "403", "404", "422", "429", "500", "502"]);
  const signUp = document.paths["/auth/sign-up"]?.post;
  expect(signUp?.security).toEqual([]);
  expect(signUp?.responses).not.toHaveProperty("401");
});

test("the event stream is described too", () => {
  const stream = document.paths["/executions/{execution_id}/stream"]?.get;
  expect(stream?.responses["200"]).toMatchObject({ content: { "text/event-stream": {} } });
});

test("errors are described by our own envelope only", () => {
  expect(Object.keys(document.components.schemas ?? {}).filter((name) => /error/i.test(name))).toEqual(["Error"]);
  expect(document.components.responses?.Error429).toMatchObject({ headers: { "Retry-After": {} } });
});
