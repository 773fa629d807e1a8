import { execFileSync, spawnSync } from "node:child_process";
import { expect, test } from "vitest";
import { type ApiDocument, isDestructive, type ListedOperation, operationGroups, searchGroups } from "#components/api-reference/openapi.ts";
import { buildRequest, exampleInput } from "#components/api-reference/request.ts";
import { curlSnippet, fetchSnippet, pythonSnippet } from "#components/api-reference/snippets.ts";

const document: ApiDocument = {
  info: { title: "Test", version: "1" },
  tags: [{ name: "Widgets", description: "Things." }, { name: "Empty" }],
  paths: {
    "/widgets/{widget_id}": {
      post: {
        operationId: "widgets-update",
        summary: "Change a widget",
        tags: ["Widgets"],
        security: [{ bearer: [] }],
        parameters: [
          { in: "path", name: "widget_id", required: true, schema: { type: "string" } },
          { in: "query", name: "dry", schema: { type: "boolean" } },
          { in: "header", name: "X-Project-Slug", schema: { type: "string" } },
          { in: "header", name: "Idempotency-Key", schema: { type: "string" } },
        ],
        requestBody: {
          content: {
            "application/json": {
              schema: {
                type: "object",
                required: ["name"],
                properties: {
                  id: { readOnly: true },
                  name: { type: "string" },
                  retries: { type: "integer" },
                  ratio: { anyOf: [{ type: "number" }, { type: "null" }] },
                  enabled: { type: "boolean" },
                  note: { type: ["string", "null"] },
                  tags: { type: "array", items: { type: "string" } },
                },
              },
              example: { name: 'It\'s a "loom"', tags: ["a"], ratio: 0.5 },
            },
          },
        },
        responses: { "200": { description: "Success" } },
      },
    },
    "/widgets": {
      delete: { operationId: "widgets-clear", summary: "Delete all widgets", tags: ["Widgets"], responses: {} },
      get: { operationId: "widgets-list", summary: "List the widgets", tags: ["Widgets"], responses: {} },
    },
  },
  components: {},
};
const [group] = operationGroups(document);
const operation = (id: string) => group?.operations.find(({ operationId }) => operationId === id) as ListedOperation;
const update = operation("widgets-update");

test("operations stand under their tags, and every word of a search must occur", () => {
  expect(operationGroups(document)).toMatchObject([{ tag: "Widgets", description: "Things." }]);
  expect(searchGroups(operationGroups(document), "list WIDGETS")[0]?.operations.map(({ path }) => path)).toEqual(["/widgets"]);
  expect(searchGroups(operationGroups(document), "list post")).toEqual([]);
});

test("the fields begin with the example, and what they hold is sent with the types of the schema", () => {
  const first = exampleInput(update, document);
  expect(first).toEqual({ "body.name": 'It\'s a "loom"', "body.tags": '[\n  "a"\n]', "body.ratio": "0.5" });
  expect(exampleInput({ ...update, method: "PUT" }, document)).toEqual({ "body.name": 'It\'s a "loom"' });
  const typed = {
    ...first,
    "path.widget_id": "a/b",
    "query.dry": "true",
    "body.retries": "3",
    "body.enabled": "false",
    "body.note": "null",
  };
  const request = buildRequest(update, document, typed);
  expect(request).toMatchObject({ method: "POST", path: "/widgets/a%2Fb?dry=true", headers: { "Content-Type": "application/json" } });
  expect(JSON.parse(request.body ?? "")).toEqual({
    name: 'It\'s a "loom"',
    retries: 3,
    ratio: 0.5,
    enabled: false,
    note: null,
    tags: ["a"],
  });
});

test("what cannot be sent is told in a sentence; what the server would refuse is sent", () => {
  expect(() => buildRequest(update, document, {})).toThrow("Fill in widget_id.");
  expect(() => buildRequest(update, document, { "path.widget_id": "1", "body.tags": "[" })).toThrow("tags is not JSON");
  expect(buildRequest(update, document, { "path.widget_id": "1", "body.retries": "many" }).body).toContain('"many"');
  expect(buildRequest(update, document, { "path.widget_id": "1" }).body).toBeUndefined();
});

test("a body may be typed as a whole", () => {
  expect(JSON.parse(buildRequest(update, document, { "path.widget_id": "1", body: '{"x": 1}', "body.name": "y" }).body ?? "")).toEqual({
    x: 1,
  });
});

test("operations that take something away are asked about first", () => {
  expect(isDestructive(operation("widgets-clear"))).toBe(true);
  expect(isDestructive(operation("widgets-list"))).toBe(false);
});

test("the code that is shown is code, with quotes kept apart, and without the key", () => {
  const typed = { ...exampleInput(update, document), "path.widget_id": "1", "header.Idempotency-Key": "it's" };
  const request = buildRequest(update, document, typed);
  const options = { base: "http://127.0.0.1:9/api/v1", needsKey: true };
  const told = execFileSync("bash", ["-c", `curl() { printf '%s\\n' "$@"; }; TREADLE_KEY=k; ${curlSnippet(request, options)}`]).toString();
  expect(told).toBe(
    `-X\nPOST\nhttp://127.0.0.1:9/api/v1/widgets/1\n-H\nAuthorization: Bearer k\n-H\nIdempotency-Key: it's\n-H\nContent-Type: application/json\n-d\n${request.body}\n`,
  );
  const check = spawnSync(process.execPath, ["--input-type=module", "--check"], { input: fetchSnippet(request, options) });
  expect(check.stderr.toString()).toBe("");
  expect(fetchSnippet(request, options)).toContain("process.env.TREADLE_KEY");
  expect(pythonSnippet(request, options)).toContain('"name": "It\'s a \\"loom\\"",');
  const python = spawnSync("python3", ["-c", "import ast, sys; ast.parse(sys.stdin.read())"], { input: pythonSnippet(request, options) });
  if (!python.error) expect(python.stderr.toString()).toBe("");
});

test("a call without key, body and headers is shown short", () => {
  const options = { base: "http://x", needsKey: false };
  const request = buildRequest(operation("widgets-list"), document, {});
  expect(curlSnippet(request, options)).toBe("curl 'http://x/widgets'");
  expect(fetchSnippet(request, options)).toBe(
    'const response = await fetch("http://x/widgets");\nconsole.log(response.status, await response.text());',
  );
  expect(pythonSnippet(request, options)).not.toContain("json");
});
