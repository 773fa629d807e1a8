import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import { beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { createPlatformKey, deletePlatformKey } from "#server/features/platform-keys/service.ts";
import { removeMember } from "#server/features/projects/members.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { readJsonObject } from "#server/http/messages/read-json.ts";
import { methodNotAllowed } from "#server/http/messages/respond.ts";
import { handleBridge, handleRest } from "#server/http/rest/rest.ts";
import { apiRoute } from "#server/http/streams/api-route.ts";
import { httpTrigger } from "#server/http/streams/http-trigger.ts";
import { handleTrpc } from "#server/http/trpc/handler.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { endSession, passwordMark, sessionCookieName } from "#server/platform/auth/session.ts";
import { AppError } from "#server/platform/errors.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const origin = "http://localhost:4000";
const secret = "auth secret of at least 32 characters";
const database = testDatabase();
let ada: ProjectPrincipal;
let key: string;
let session: Record<string, string>;

beforeAll(async () => {
  setSettings({ AUTH_SECRET: secret, APP_URL: origin });
  ada = await database.newAdmin();
  key = (await createPlatformKey(ada, { name: "CI" })).key;
  const token = await encode({ token: { sub: ada.user.id, sid: randomUUID(), password_mark: passwordMark(null) }, secret });
  session = { cookie: `${sessionCookieName(false)}=${token}`, origin };
});

const params = <Value extends Record<string, string>>(value: Value = {} as Value) => ({ params: value });
const withKey = (path = "/api/v1/x", init: RequestInit = {}) =>
  new Request(`${origin}${path}`, { ...init, headers: { authorization: `Bearer ${key}`, ...init.headers } });
const keyNeeds = { scope: "read" as const };
const outcome = async (response: Response) => [response.status, ((await response.json()) as { error_code?: string }).error_code];

test("a raw route gets who asks, the project and the path's values", async () => {
  const route = apiRoute<{ id: string }>(
    async (_, { principal, params: { id } }) => Response.json({ id, project: principal.project.id, role: principal.role }),
    { keyNeeds },
  );
  const response = await route(withKey(), params({ id: "7" }));
  expect(await response.json()).toEqual({ id: "7", project: ada.project.id, role: "admin" });
  expect(response.headers.get("cache-control")).toBe("no-store");
});

test("a raw route answers errors in the envelope, and shows nothing of a fault", async () => {
  const failing = (error: Error) => apiRoute(async () => Promise.reject(error), { keyNeeds })(withKey(), params());
  expect(await outcome(await failing(new AppError("CONFLICT", "No.")))).toEqual([409, "CONFLICT"]);
  const fault = await failing(new Error("the database password is hunter2"));
  expect(fault.status).toBe(500);
  expect(await fault.text()).not.toContain("hunter2");
});

test("a raw route refuses nobody, a role below the one needed, and a project that one is not in", async () => {
  const route = apiRoute(async () => Response.json({}), { keyNeeds, role: "editor" });
  expect(await outcome(await route(new Request(origin), params()))).toEqual([401, "AUTH_REQUIRED"]);
  const viewer = await database.newAdmin();
  await addMember(ada, viewer.user, "viewer");
  const { key: viewerKey } = await createPlatformKey(viewer, { name: "CI" });
  const headers = { authorization: `Bearer ${viewerKey}`, "x-project-id": ada.project.id };
  expect(await outcome(await route(new Request(origin, { headers }), params()))).toEqual([403, "PERMISSION_DENIED"]);
  expect(await outcome(await route(withKey("/", { headers: { "x-project-slug": "never-was" } }), params()))).toEqual([404, "NOT_FOUND"]);
});

test("a stream takes the key from the address where it may, and is not held back on its way", async () => {
  const stream = apiRoute(async () => new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } }), {
    keyNeeds,
    allowQueryToken: true,
  });
  const response = await stream(new Request(`${origin}/stream?token=${key}`), params());
  expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store, no-transform"]);
  expect((await stream(new Request(`${origin}/stream?token=nonsense`), params())).status).toBe(401);
});

/** A body that begins to come, and goes on only after `meanwhile`, which takes a while. */
function slowBody(text: string, meanwhile: () => Promise<unknown>): ReadableStream<Uint8Array> {
  vi.useFakeTimers({ toFake: ["performance"] });
  onTestFinished(() => void vi.useRealTimers());
  const parts = [text.slice(0, 5), text.slice(5)].map((part) => new TextEncoder().encode(part));
  return new ReadableStream(
    {
      async pull(controller) {
        if (parts.length === 1) {
          await meanwhile();
          vi.advanceTimersByTime(60_000);
        }
        const part = parts.shift();
        if (part) controller.enqueue(part);
        else controller.close();
      },
    },
    { highWaterMark: 0 },
  );
}
const streamed = (body: ReadableStream<Uint8Array>, headers: Record<string, string>) =>
  ({ method: "POST", body, duplex: "half", headers: { "content-type": "application/json", ...headers } }) as RequestInit;

test("whoever begins to send while they are let in, and ends when they are not any more, has done nothing", async () => {
  const grace = await database.newAdmin();
  const sid = randomUUID();
  const cookie = `${sessionCookieName(false)}=${await encode({ token: { sub: grace.user.id, sid, password_mark: passwordMark(null) }, secret })}`;
  const makeKey = JSON.stringify({ name: "kept back" });
  const signedOut = () =>
    handleRest(
      new Request(
        `${origin}/api/v1/platform-keys`,
        streamed(
          slowBody(makeKey, () => endSession(sid)),
          { cookie, origin },
        ),
      ),
    );
  expect(await outcome(await signedOut())).toEqual([401, "AUTH_REQUIRED"]);
  const overTrpc = await handleTrpc(
    new Request(
      `${origin}/api/trpc/platformKeys.create`,
      streamed(
        slowBody(makeKey, () => endSession(sid)),
        { cookie, origin },
      ),
    ),
  );
  expect(overTrpc.status).toBe(401);
  expect((await createPlatformKey(grace, { name: "CI" })).name).toBe("CI");

  const asMember = await createPlatformKey(grace, { name: "of a member" });
  await addMember(ada, grace.user, "editor");
  const headers = { authorization: `Bearer ${asMember.key}`, "x-project-id": ada.project.id };
  const leave = () => removeMember(ada, { project_id: ada.project.id, user_id: grace.user.id });
  const skill = JSON.stringify({ name: "Late" });
  const late = await handleRest(new Request(`${origin}/api/v1/canvases`, streamed(slowBody(skill, leave), headers)));
  expect(await outcome(late)).toEqual([404, "NOT_FOUND"]);
  await addMember(ada, grace.user, "editor");
  const raw = apiRoute(async (request) => Response.json(await readJsonObject(request)), { keyNeeds: { scope: "run" }, role: "editor" });
  const demote = () => setMember(ada, { project_id: ada.project.id, email: grace.user.email, role: "viewer" });
  expect(await outcome(await raw(new Request(`${origin}/x`, streamed(slowBody("{}      ", demote), headers)), params()))).toEqual([
    403,
    "PERMISSION_DENIED",
  ]);
  // Who is only slow is served.
  const slow = slowBody(JSON.stringify({ name: "slow" }), async () => undefined);
  expect(
    (await handleRest(new Request(`${origin}/api/v1/platform-keys`, streamed(slow, { authorization: `Bearer ${asMember.key}` })))).status,
  ).toBe(201);
});

/** A stream that stays open until its signal fires, and who reads it. */
async function openStream(headers: Record<string, string>, query = "") {
  const ended = Promise.withResolvers<void>();
  const route = apiRoute(
    async (_, { signal }) => {
      signal.addEventListener("abort", () => ended.resolve());
      return new Response(new ReadableStream({ start: (to) => to.enqueue(new TextEncoder().encode(": open\n\n")) }), {
        headers: { "content-type": "text/event-stream" },
      });
    },
    { keyNeeds: { scope: "read" }, allowQueryToken: true },
  );
  const response = await route(new Request(`${origin}/stream${query}`, { headers }), params());
  const reader = response.body?.getReader();
  if (!reader) throw new Error("no stream");
  expect((await reader.read()).done).toBe(false);
  return { reader, ended: ended.promise };
}

test("a stream ends once whoever opened it may no longer see it, and the work for it stops", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => void vi.useRealTimers());
  const project = { "x-project-id": ada.project.id };
  const member = async () => {
    const somebody = await database.newAdmin();
    await addMember(ada, somebody.user, "viewer");
    return { somebody, ...(await createPlatformKey(somebody, { name: "CI" })) };
  };
  const [removed, byAddress, signedOut, stays] = [await member(), await member(), await member(), await member()];
  const sid = randomUUID();
  const token = await encode({ token: { sub: signedOut.somebody.user.id, sid, password_mark: passwordMark(null) }, secret });
  const streams = {
    removed: await openStream({ ...project, authorization: `Bearer ${removed.key}` }),
    byAddress: await openStream(project, `?token=${byAddress.key}`),
    signedOut: await openStream({ ...project, cookie: `${sessionCookieName(false)}=${token}` }),
  };
  const kept = await openStream({ ...project, authorization: `Bearer ${stays.key}` });
  const keptRead = kept.reader.read();
  await removeMember(ada, { project_id: ada.project.id, user_id: removed.somebody.user.id });
  await deletePlatformKey(byAddress.somebody, { key_id: byAddress.id });
  await endSession(sid);
  vi.advanceTimersByTime(15_000);
  for (const { reader, ended } of Object.values(streams)) {
    expect((await reader.read()).done).toBe(true);
    await ended;
  }
  expect(await Promise.race([keptRead.then(() => "ended"), new Promise((done) => setImmediate(done, "open"))])).toBe("open");
  await kept.reader.cancel();
});

test("a route for the session only refuses a key and takes the session", async () => {
  const route = apiRoute(async () => Response.json({}), { sessionOnly: true });
  expect(await outcome(await route(withKey(), params()))).toEqual([403, "PERMISSION_DENIED"]);
  expect((await route(new Request(origin, { headers: session }), params())).status).toBe(200);
});

test("the methods that a raw route does not have name those that it has", async () => {
  const refused = methodNotAllowed("GET", "HEAD");
  const response = await refused();
  expect([response.headers.get("allow"), ...(await outcome(response))]).toEqual(["GET, HEAD, OPTIONS", 405, "METHOD_NOT_ALLOWED"]);
  const options = await refused(new Request(origin, { method: "OPTIONS" }));
  expect([options.status, options.headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
});

test("what is not under the bridge is told to a session only", async () => {
  const bridge = (headers: Record<string, string>) => handleBridge(new Request(`${origin}/api/v1/bridge/x`, { headers })).then(outcome);
  expect(await bridge({})).toEqual([401, "AUTH_REQUIRED"]);
  expect(await bridge({ authorization: "Bearer nonsense" })).toEqual([401, "AUTH_REQUIRED"]);
  expect(await bridge({ authorization: `Bearer ${key}` })).toEqual([403, "PERMISSION_DENIED"]);
  expect(await bridge(session)).toEqual([404, "NOT_FOUND"]);
});

test("a session starts no run by GET, which any picture in a page would send, nor for what a page only shows", async () => {
  const trigger = (method: string, headers: Record<string, string>) =>
    httpTrigger(new Request(`${origin}/api/v1/http/${ada.project.id}`, { method, headers }), params({ workflow_id: ada.project.id })).then(
      outcome,
    );
  const own = { ...session, "sec-fetch-site": "same-origin" };
  for (const destination of ["image", "iframe", "script", "style", "audio"])
    expect(await trigger("POST", { ...own, "sec-fetch-dest": destination })).toEqual([403, "PERMISSION_DENIED"]);
  expect(await trigger("GET", { ...own, "sec-fetch-dest": "document" })).toEqual([403, "PERMISSION_DENIED"]);
  expect(await trigger("POST", { ...session, origin: "https://evil.example" })).toEqual([403, "PERMISSION_DENIED"]);
  for (const destination of ["empty", "document"])
    expect(await trigger("POST", { ...own, "sec-fetch-dest": destination })).toEqual([404, "NOT_FOUND"]);
  expect(await trigger("GET", { authorization: `Bearer ${key}` })).toEqual([404, "NOT_FOUND"]);
});

async function mutate(headers: Record<string, string>, body = JSON.stringify({ name: "By tRPC" })) {
  const response = await handleTrpc(
    new Request(`${origin}/api/trpc/projects.create`, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body,
    }),
  );
  return {
    status: response.status,
    data: (await response.json()) as { result?: { data: { slug: string } }; error?: { data: { error_code: string } }; error_code?: string },
  };
}

test("the web UI's door takes the session from our own pages, and no key", async () => {
  const made = await mutate(session);
  expect([made.status, made.data.result?.data.slug]).toEqual([200, "by-trpc"]);
  expect(await mutate({ ...session, origin: "http://evil.example" })).toMatchObject({
    status: 403,
    data: { error: { data: { error_code: "PERMISSION_DENIED" } } },
  });
  expect(await mutate({ authorization: `Bearer ${key}` })).toMatchObject({
    status: 403,
    data: { error: { data: { error_code: "PERMISSION_DENIED" } } },
  });
  expect(await mutate({})).toMatchObject({ status: 401, data: { error: { data: { error_code: "AUTH_REQUIRED" } } } });
  expect(await mutate(session, "x".repeat(5_000_000))).toMatchObject({ status: 413, data: { error_code: "PAYLOAD_TOO_LARGE" } });
});

test("the whole way of a REST call: create, list, read, change, delete", async () => {
  const rest = async (method: string, path: string, body?: object) => {
    const init = { method, headers: { "x-project-id": ada.project.id }, ...(body && { body: JSON.stringify(body) }) };
    const headers = { ...init.headers, "content-type": "application/json" };
    const response = await handleRest(withKey(`/api/v1${path}`, { ...init, headers }));
    const text = await response.text();
    return { status: response.status, data: text ? JSON.parse(text) : undefined };
  };
  const { status, data } = await rest("POST", "/projects", { name: "By REST" });
  expect([status, data.slug]).toEqual([201, "by-rest"]);
  expect((await rest("GET", "/projects?per_page=1")).data).toMatchObject({ items: [{ id: data.id }], page: 1, per_page: 1 });
  const read = await rest("GET", `/projects/${data.id}`);
  expect((await rest("PUT", `/projects/${data.id}`, { ...read.data, name: "Renamed" })).data).toMatchObject({
    name: "Renamed",
    slug: "by-rest",
  });
  expect(await rest("PUT", `/projects/${data.id}`, { colour: "red" })).toMatchObject({
    status: 422,
    data: { errors: [{ path: "colour" }] },
  });
  expect(await rest("DELETE", `/projects/${data.id}`)).toEqual({ status: 204, data: undefined });
  expect(await rest("GET", `/projects/${data.id}`)).toMatchObject({ status: 404, data: { error_code: "NOT_FOUND" } });
});
