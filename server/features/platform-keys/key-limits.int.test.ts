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
const trial = agentTrial({ keyNeeds: { scope: "write" } });
const csv = canvasCsv({ keyNeeds: { scope: "read" } });
const stream = executionStream({ keyNeeds: { scope: "read", isOpenToRun: true }, allowQueryToken: true });
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
  /^(POST \/workflows\/\{workflow_id\}\/execute|POST \/executions\/\{execution_id\}\/(cancel|approve|rerun|fork)|POST \/executions\/bulk|POST \/bulk-actions\/\{bulk_id\}\/stop|POST \/reviews\/decide|POST \/agents\/\{agent_id\}\/(test|chat)|[A-Z]+ \/http\/\{workflow_id\})$/;
const scopeOf = (operation: string): KeyScope => (RUNS.test(operation) ? "run" : operation.startsWith("GET ") ? "read" : "write");

/** Reading operations that a key with the scope run may use too. */
const OPEN_TO_RUN = /^GET \/(auth\/me|executions(\/\{execution_id\}(\/(logs|stream|nodes\/\{node_id\}\/output))?)?)$/;
const lets = (operation: string, scope: KeyScope): boolean =>
  scope === scopeOf(operation) || (scope === "run" && OPEN_TO_RUN.test(operation));

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
          if (isClosed === lets(operation, scope)) faults.push(`${operation} by ${scope}: ${status} ${JSON.stringify(body).slice(0, 200)}`);
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

test("a run-only key sees the executions that it started", async () => {
  const who = await database.newAdmin();
  const [own, other] = [await newKey({ scopes: ["run"] }, who), await newKey({ scopes: ["run"] }, who)];
  const whole = await newKey({}, who);
  const graph = { nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } }], edges: [] };
  const workflow = (await call(whole.key, "POST", "/workflows", { name: "Flow", ...graph })).body.id;
  const start = async (key: string): Promise<string> =>
    (await call(key, "POST", `/workflows/${workflow}/execute`, { input: "tea" })).body.execution_id;
  const [mine, theirs, ours] = [await start(own.key), await start(other.key), await start(whole.key)];
  const statusOf = async (method: string, id: string, path = "") => (await call(own.key, method, `/executions/${id}${path}`)).status;
  const follow = async (id: string) => {
    const answer = await stream(requestOf(own.key, "GET", `/executions/${id}/stream`), { params: { execution_id: id } });
    await answer.body?.cancel();
    return answer.status;
  };

  expect((await call(own.key, "GET", "/auth/me")).body.auth).toMatchObject({ key_id: own.id });
  for (const id of [mine, theirs, ours]) {
    const status = id === mine ? 200 : 404;
    expect([id, await statusOf("GET", id), await statusOf("GET", id, "/logs"), await follow(id)]).toEqual([id, status, status, status]);
    const output = await call(own.key, "GET", `/executions/${id}/nodes/t/output`);
    // No worker runs here, so the own one has no result yet.
    expect([id, output.body.detail]).toEqual([id, expect.stringContaining(id === mine ? "result of this node" : "execution")]);
  }
  const never = await call(own.key, "GET", `/executions/${NOWHERE}`);
  expect((await call(own.key, "GET", `/executions/${theirs}`)).body).toEqual(never.body);
  for (const query of [
    "",
    "?q=tea",
    `?workflow_id=${workflow}`,
    "?status=completed,pending,queued,running",
    "?from=2020-01-01T00:00:00.000Z",
  ]) {
    const { body } = await call(own.key, "GET", `/executions${query}`);
    expect([query, body]).toEqual([query, expect.objectContaining({ total: 1, items: [expect.objectContaining({ id: mine })] })]);
  }
  expect((await call(whole.key, "GET", "/executions")).body.total).toBe(3);
});

/** A run-only key with an ended run of its own, and one that another key of the same owner started. */
async function runOnlyKey() {
  const who = await database.newAdmin();
  const { key } = await newKey({ scopes: ["run"] }, who);
  const whole = await newKey({}, who);
  const graph = { nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start" } }], edges: [] };
  const workflow = (await call(whole.key, "POST", "/workflows", { name: "Flow", ...graph })).body.id;
  const start = async (by: string): Promise<string> =>
    (await call(by, "POST", `/workflows/${workflow}/execute`, { input: "tea" })).body.execution_id;
  const end = (id: string) => db().execution.update({ where: { id }, data: { status: "completed", completed_at: new Date() } });
  return { key, mine: await start(key), other: await start(whole.key), end };
}

test.each(["rerun", "fork"])("a run-only key starts a %s of its own executions alone", async (again) => {
  const { key, mine, other, end } = await runOnlyKey();
  for (const id of [mine, other]) await end(id);

  const own = await call(key, "POST", `/executions/${mine}/${again}`, {});
  const refused = await call(key, "POST", `/executions/${other}/${again}`, {});

  expect(await call(key, "GET", `/executions/${own.body.execution_id}`)).toMatchObject({ status: 200, body: { rerun_of: mine } });
  expect(refused).toEqual(await call(key, "POST", `/executions/${NOWHERE}/${again}`, {}));
});

test("a run-only key cancels its own executions alone", async () => {
  const { key, mine, other } = await runOnlyKey();

  const refused = await call(key, "POST", `/executions/${other}/cancel`);

  expect(refused).toEqual(await call(key, "POST", `/executions/${NOWHERE}/cancel`));
  expect((await db().execution.findUniqueOrThrow({ where: { id: other } })).status).toBe("pending");
  expect(await call(key, "POST", `/executions/${mine}/cancel`)).toMatchObject({ status: 200, body: { id: mine, status: "cancelled" } });
});

test.each(["ids", "filter"] as const)("a run-only key reaches its own executions alone by %s of a bulk action", async (by) => {
  const { key, mine, other } = await runOnlyKey();
  const which = { ids: [mine, other], filter: { q: "tea" } };

  const { body } = await call(key, "POST", "/executions/bulk", { action: "cancel", [by]: which[by] });

  expect((await db().bulkAction.findUniqueOrThrow({ where: { id: body.id } })).execution_ids).toEqual([mine]);
});

test.each([
  ["POST", "/executions/{own}/approve", { decision: "approved" }],
  ["POST", "/reviews/decide", { answers: [{ review_id: NOWHERE, decision: "approved" }] }],
  ["POST", `/bulk-actions/${NOWHERE}/stop`, {}],
] as const)("a run-only key is refused %s %s", async (method, path, body) => {
  const { key, mine } = await runOnlyKey();

  const refused = await call(key, method, path.replace("{own}", mine), body);

  expect(refused).toMatchObject({ status: 403, body: { detail: expect.stringContaining("also has the scope read") } });
});
