import { beforeAll, expect, test } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { createProject } from "#server/features/projects/service.ts";
import { openApiDocument } from "#server/http/openapi/document.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import { agentChat, agentTrial } from "#server/http/streams/agent-chat.ts";
import { canvasCsv } from "#server/http/streams/canvas-csv.ts";
import { executionStream } from "#server/http/streams/event-streams.ts";
import { httpTrigger } from "#server/http/streams/http-trigger.ts";
import { addRagDocument } from "#server/http/streams/rag-documents.ts";
import type { CreatePlatformKeyInput, KeyScope, PlatformKey } from "#server/platform/auth/platform-key-schema.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { FRONT_HEADER } from "#server/platform/auth/request-origin.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import type { Page } from "#server/shared/primitives-schema.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const origin = "http://localhost:4000";
const NOWHERE = "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10";
let ada: ProjectPrincipal;

beforeAll(async () => {
  ada = await database.newAdmin();
});

const newKey = (limits: Omit<CreatePlatformKeyInput, "name"> = {}, who = ada) => createPlatformKey(who, { name: "CI", ...limits });

interface Reply {
  status: number;
  // biome-ignore lint/suspicious/noExplicitAny: whatever a test asked for
  body: any;
}

async function told(answer: Response): Promise<Reply> {
  const text = await answer.text();
  return { status: answer.status, body: text.startsWith("{") ? JSON.parse(text) : text };
}

const requestOf = (key: string, method: string, path: string, body?: object, headers: Record<string, string> = {}) =>
  new Request(`${origin}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json", ...headers },
    ...(body && { body: JSON.stringify(body) }),
  });
const call = async (...asked: Parameters<typeof requestOf>): Promise<Reply> => told(await handleRest(requestOf(...asked)));

const given = { params: { workflow_id: NOWHERE, agent_id: NOWHERE, execution_id: NOWHERE, rag_id: NOWHERE, canvas_id: NOWHERE } };
const chat = agentChat({ keyNeeds: { scope: "run" } });
const trial = agentTrial({ keyNeeds: { scope: "run" } });
const csv = canvasCsv({ keyNeeds: { scope: "read" } });
const stream = executionStream({ keyNeeds: { scope: "read" }, allowQueryToken: true });
/** Operations that have a handler of their own. */
const OWN: Record<string, (request: Request) => Promise<Response>> = {
  "POST /agents/{agent_id}/chat": (request) => chat(request, given),
  "POST /agents/try": (request) => trial(request, { params: {} }),
  "GET /executions/{execution_id}/stream": (request) => stream(request, given),
  "GET /canvases/{canvas_id}/data.csv": (request) => csv(request, given),
  "POST /rags/{rag_id}/documents": (request) => {
    const headers = { authorization: request.headers.get("authorization") ?? "" };
    const form = new FormData();
    form.set("file", new File(["x"], "x.txt"));
    return addRagDocument(new Request(request.url, { method: "POST", headers, body: form }), given);
  },
};
const handlerOf = (operation: string) => (/ \/http\//.test(operation) ? (request: Request) => httpTrigger(request, given) : OWN[operation]);

// Written down here a second time, so that a wrong declaration is found.
const RUNS =
  /^(POST \/workflows\/\{workflow_id\}\/execute|POST \/executions\/\{execution_id\}\/(cancel|approve|rerun|fork)|POST \/executions\/bulk|POST \/bulk-actions\/\{bulk_id\}\/stop|POST \/reviews\/decide|POST \/agents\/(\{agent_id\}\/(test|chat)|try)|[A-Z]+ \/http\/\{workflow_id\})$/;
const scopeOf = (operation: string): KeyScope => (RUNS.test(operation) ? "run" : operation.startsWith("GET ") ? "read" : "write");

test("every operation of the API is closed to a key without its scope, and open to one that has no other", async () => {
  const scopes: KeyScope[] = ["read", "run", "write"];
  const keys = Object.fromEntries(await Promise.all(scopes.map(async (scope) => [scope, (await newKey({ scopes: [scope] })).key])));
  const faults: string[] = [];
  let seen = 0;
  for (const [template, item] of Object.entries(openApiDocument().paths))
    for (const [method, described] of Object.entries(item)) {
      const operation = `${method.toUpperCase()} ${template}`;
      if (described.security?.length === 0) continue;
      seen += 1;
      const needed = scopeOf(operation);
      if (described["x-required-scope"] !== needed) faults.push(`${operation} declares ${described["x-required-scope"]}, not ${needed}`);
      if (!described.responses["403"]) faults.push(`${operation} does not name 403`);
      const path = template.replace(/\{\w+\}/g, NOWHERE);
      for (const scope of scopes) {
        for (const answer of [handleRest, handlerOf(operation)]) {
          // The handlers of their own are no routes of the router.
          if (!answer || (answer === handleRest && / \/http\/|\/chat$|\/try$|\/stream$|\.csv$/.test(operation))) continue;
          // A name that is no field: who is let in changes nothing.
          const { status, body } = await told(
            await answer(requestOf(keys[scope] ?? "", method.toUpperCase(), path, method === "get" ? undefined : { no_such: 1 })),
          );
          const isClosed = status === 403 && String(body.detail).includes(`the scope ${needed}`);
          if (isClosed === (scope === needed)) faults.push(`${operation} by ${scope}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
        }
      }
    }
  expect(faults).toEqual([]);
  expect(seen).toBeGreaterThan(60);
});

test("to run is not to write: with the scope run alone no runs are deleted, and no graph is brought along", async () => {
  const { key } = await newKey({ scopes: ["run"] });
  const graph = { nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: {} }], edges: [] };
  const deletes = { action: "delete", ids: [NOWHERE] };
  for (const [path, body, status] of [
    ["/executions/bulk", deletes, 403],
    ["/executions/bulk", { ...deletes, action: "rerun" }, 202],
    [`/executions/${NOWHERE}/fork`, graph, 403],
    [`/executions/${NOWHERE}/fork`, { input: "tea" }, 404],
  ] as const)
    expect([path, body, (await call(key, "POST", path, body)).status]).toEqual([path, body, status]);
});

test("a key for some projects knows no other, and changes nothing beyond them", async () => {
  const who = await database.newAdmin();
  const second = await createProject(who, { name: "Second" });
  const { key, id } = await newKey({ project_ids: [second.id] }, who);
  await newKey({}, who);
  const other = { "x-project-id": who.project.id };
  // With one project in reach no header is needed.
  expect((await call(key, "GET", "/workflows")).status).toBe(200);
  expect((await call(key, "POST", "/workflows", { name: "Mine" })).status).toBe(201);
  const [hidden, never] = [
    await call(key, "GET", "/workflows", undefined, other),
    await call(key, "GET", "/workflows", undefined, { "x-project-id": NOWHERE }),
  ];
  expect(hidden).toEqual({ ...never, status: 404 });
  expect((await call(key, "GET", "/workflows", undefined, { "x-project-slug": who.project.slug })).status).toBe(404);
  for (const [method, path] of [
    ["GET", `/projects/${who.project.id}`],
    ["PUT", `/projects/${who.project.id}`],
    ["DELETE", `/projects/${who.project.id}`],
    ["GET", `/projects/${who.project.id}/members`],
  ] as const)
    expect([path, (await call(key, method, path)).status]).toEqual([path, 404]);
  expect((await call(key, "GET", "/projects")).body).toMatchObject({ total: 1, items: [{ id: second.id }] });
  expect((await call(key, "GET", "/users/me")).body.projects).toMatchObject([{ id: second.id }]);
  expect((await call(key, "GET", "/platform-keys")).body).toMatchObject({ total: 1, items: [{ id, project_ids: [second.id] }] });
  for (const [method, path, body] of [
    ["POST", "/projects", { name: "Third" }],
    ["POST", "/platform-keys", { name: "More" }],
    ["DELETE", `/platform-keys/${id}`, {}],
    ["DELETE", "/users/me", { password: "x" }],
  ] as const) {
    const { status, body: said } = await call(key, method, path, body);
    expect([path, status, said.detail]).toEqual([path, 403, expect.stringContaining("some of your projects only")]);
  }
  // What finds its project by itself: a stream by its run, an HTTP trigger by its workflow.
  const trigger = { label: "Start", kind: "http", allowed_methods: ["POST"], response_mode: "async" };
  const graph = { nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: trigger }], edges: [] };
  const whole = (await newKey({}, who)).key;
  const there = await call(whole, "POST", "/workflows", { name: "There", ...graph }, other);
  const run = await call(whole, "POST", `/workflows/${there.body.id}/execute`, {}, other);
  expect(run.status).toBe(202);
  const by = (one: string) => ({ headers: { authorization: `Bearer ${one}` } });
  const fire = (one: string) =>
    httpTrigger(new Request(`${origin}/api/v1/http/${there.body.id}`, { method: "POST", ...by(one) }), {
      params: { workflow_id: there.body.id },
    });
  expect([(await fire(key)).status, (await fire(whole)).status]).toEqual([404, 202]);
  const viewer = new AbortController();
  const follow = (one: string) =>
    stream(new Request(`${origin}/api/v1/executions/${run.body.execution_id}/stream?token=${one}`, { signal: viewer.signal }), {
      params: { execution_id: run.body.execution_id },
    });
  expect((await follow(key)).status).toBe(404);
  const followed = await follow(whole);
  expect(followed.status).toBe(200);
  viewer.abort();
  await followed.body?.cancel();
});

test("an expired key is told so, wherever it is sent, and is nobody to what is open to all", async () => {
  const { key, id } = await newKey({ expires_at: new Date(Date.now() + 3_600_000).toISOString() });
  expect((await call(key, "GET", "/auth/me")).status).toBe(200);
  await db().platformKey.update({ where: { id }, data: { expires_at: new Date(Date.now() - 1000) } });
  const refused = await call(key, "GET", "/auth/me");
  expect([refused.status, refused.body]).toMatchObject([
    401,
    { error_code: "AUTH_REQUIRED", detail: expect.stringMatching(/expired at 20.*new one/) },
  ]);
  expect((await stream(new Request(`${origin}/api/v1/executions/${NOWHERE}/stream?token=${key}`), given)).status).toBe(401);
  expect((await httpTrigger(requestOf(key, "POST", `/http/${NOWHERE}`), given)).status).toBe(401);
  expect((await call(key, "GET", "/invitations/unknown")).status).toBe(404);
});

test("a key makes none with more rights than its own, by a repetition neither", async () => {
  const expires_at = new Date(Date.now() + 3_600_000).toISOString();
  const { key } = await newKey({ scopes: ["read", "write"], expires_at });
  const make = (body: object, headers?: Record<string, string>) => call(key, "POST", "/platform-keys", { name: "Child", ...body }, headers);
  for (const more of [{ scopes: ["run"] }, { expires_at: null }, { expires_at: "2099-01-01T00:00:00Z" }])
    expect([more, (await make(more)).status]).toEqual([more, 403]);
  const child = await make({});
  expect(child).toMatchObject({ status: 201, body: { scopes: ["read", "write"], expires_at, project_ids: null } });
  expect((await make({ scopes: ["read"], project_ids: [ada.project.id] })).body).toMatchObject({
    scopes: ["read"],
    project_ids: [ada.project.id],
  });
  // Answers are kept for those who repeat a call: the one that holds a whole key is not for a lesser one.
  const again = { "idempotency-key": "same" };
  const whole = await call((await newKey()).key, "POST", "/platform-keys", { name: "Child" }, again);
  expect(whole.status).toBe(201);
  const repeated = await make({}, again);
  expect([repeated.status, JSON.stringify(repeated.body)]).toEqual([409, expect.not.stringContaining(whole.body.key)]);
});

test("limits that make no sense are refused with what to do", async () => {
  const { key } = await newKey();
  const stranger = await database.newAdmin();
  for (const [limits, field] of [
    [{ expires_at: "2020-01-01T00:00:00Z" }, "expires_at"],
    [{ expires_at: "tomorrow" }, "expires_at"],
    [{ scopes: [] }, "scopes"],
    [{ scopes: ["read", "read"] }, "scopes"],
    [{ scopes: ["everything"] }, "scopes.0"],
    [{ project_ids: [] }, "project_ids"],
    [{ project_ids: [stranger.project.id] }, "project_ids"],
    [{ project_ids: ["nonsense"] }, "project_ids"],
  ] as const) {
    const { status, body } = await call(key, "POST", "/platform-keys", { name: "Odd", ...limits });
    expect([limits, status, body.errors?.[0]?.path]).toEqual([limits, 422, field]);
  }
});

test("lists tell how a key begins, what it may do, and when and from where it was used last", async () => {
  const who = await database.newAdmin();
  setSettings({ TREADLE_FRONT_TOKEN: "the front's own token of 32 letters" });
  const { key } = await newKey({ scopes: ["read"] }, who);
  await call(key, "GET", "/auth/me", undefined, {
    [FRONT_HEADER]: "the front's own token of 32 letters",
    "x-forwarded-for": "203.0.113.7",
  });
  const [only] = ((await call(key, "GET", "/platform-keys")).body as Page<PlatformKey>).items;
  expect(only).toMatchObject({
    prefix: key.slice(0, 17),
    scopes: ["read"],
    project_ids: null,
    expires_at: null,
    last_used_ip: "203.0.113.7",
  });
  expect(JSON.stringify(only)).not.toContain(key);
  // One that was made by the version before has everything and no prefix.
  const old = await db().platformKey.create({ data: { user_id: who.user.id, name: "Old", key_hash: "x" } });
  const listed = ((await call(key, "GET", "/platform-keys")).body as Page<PlatformKey>).items.find(({ id }) => id === old.id);
  expect(listed).toMatchObject({ prefix: null, scopes: ["read", "run", "write"], project_ids: null, expires_at: null, last_used_ip: null });
});
