import { randomUUID } from "node:crypto";
import { encode } from "next-auth/jwt";
import { afterEach, beforeAll, expect, test, vi } from "vitest";
import { createPlatformKey, deletePlatformKey } from "#server/features/platform-keys/service.ts";
import { createProject } from "#server/features/projects/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { createContext } from "#server/http/trpc/context.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { projectOf } from "#server/platform/auth/project-of.ts";
import { visitorOf } from "#server/platform/auth/request-origin.ts";
import { passwordMark } from "#server/platform/auth/session.ts";
import { db, inTransaction, pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const secret = "auth secret of at least 32 characters";
const database = testDatabase();
beforeAll(async () => {
  setSettings({ AUTH_SECRET: secret, APP_URL: "http://localhost:4000", TREADLE_FRONT_TOKEN: "front-token" });
});
afterEach(() => setSettings({ APP_URL: "http://localhost:4000" }));

const bearer = (key: string) => new Headers({ authorization: `Bearer ${key}` });

async function cookie(
  userId: string,
  options: { mark?: string; sid?: string; secret?: string; maxAge?: number; name?: string } = {},
): Promise<string> {
  const token = await encode({
    token: { sub: userId, sid: options.sid ?? randomUUID(), password_mark: options.mark ?? passwordMark(null) },
    secret: options.secret ?? secret,
    maxAge: options.maxAge ?? 3600,
  });
  return `other=1; ${options.name ?? "treadle.session-token"}=${token}`;
}

test("a key is its owner, however the scheme is spelled", async () => {
  const ada = await database.newAdmin();
  const { key, id } = await createPlatformKey(ada, { name: "CI" });
  const expected = {
    user: ada.user,
    auth: { type: "platform_key", scopes: ["read", "run", "write"], project_ids: null, expires_at: null, key_id: id },
  };
  expect(await principalOf(bearer(key))).toEqual(expected);
  expect(await principalOf(new Headers({ authorization: `bearer  ${key}` }))).toEqual(expected);
  expect(await principalOf(new Headers(), key)).toEqual(expected);
});

test.each(["", "sk-service-", `sk-service-${"x".repeat(43)}`, "nonsense", "sk-service-\u0000"])("the key %j is nobody", async (key) => {
  expect(await principalOf(new Headers(), key)).toBeNull();
});

test("a deleted key is nobody at once", async () => {
  const ada = await database.newAdmin();
  const { key, id } = await createPlatformKey(ada, { name: "CI" });
  await deletePlatformKey(ada, { key_id: id });
  expect(await principalOf(bearer(key))).toBeNull();
});

test("many who ask at once read together, and each sees a key that was deleted before it was read", async () => {
  const ada = await database.newAdmin();
  const { key, id } = await createPlatformKey(ada, { name: "CI" });
  expect(await principalOf(bearer(key))).not.toBeNull();
  const query = vi.spyOn(pool(), "query");
  const reads = () => query.mock.calls.filter(([asked]) => Object(asked).name === "principal-by-key").length;
  const asked = await inTransaction(async (client) => {
    await client.query("LOCK TABLE platform_keys IN ACCESS EXCLUSIVE MODE");
    const all = Array.from({ length: 20 }, () => asOtherCaller(() => principalOf(bearer(key))));
    await client.query("DELETE FROM platform_keys WHERE id = $1", [id]);
    return { all };
  });
  expect(await Promise.all(asked.all)).toEqual(Array(20).fill(null));
  expect(reads()).toBe(2);
  query.mockRestore();
});

test("the last use of a key is kept, at most once a minute", async () => {
  const ada = await database.newAdmin();
  const { key, id } = await createPlatformKey(ada, { name: "CI" });
  const lastUse = async () => (await db().platformKey.findUniqueOrThrow({ where: { id } })).last_used_at?.getTime();
  await principalOf(bearer(key));
  const first = await lastUse();
  expect(first).toBeTypeOf("number");
  await principalOf(bearer(key));
  expect(await lastUse()).toBe(first);
  await db().platformKey.update({ where: { id }, data: { last_used_at: new Date(Date.now() - 61_000) } });
  await principalOf(bearer(key));
  expect(await lastUse()).toBeGreaterThanOrEqual(first ?? 0);
});

test("a session is its user; a wrong key beside it is nobody", async () => {
  const ada = await database.newAdmin();
  const headers = new Headers({ cookie: await cookie(ada.user.id) });
  expect(await principalOf(headers)).toEqual({
    user: ada.user,
    auth: { type: "session", password_mark: passwordMark(null), session_id: expect.any(String) },
  });
  headers.set("authorization", "Basic abc");
  expect(await principalOf(headers)).not.toBeNull();
  headers.set("authorization", "Bearer nonsense");
  expect(await principalOf(headers)).toBeNull();
});

test("a session that was forged, has ended, is of somebody gone, or is older than the password, is nobody", async () => {
  const ada = await database.newAdmin();
  const nobody = async (text: string) => expect(await principalOf(new Headers({ cookie: text }))).toBeNull();
  await nobody(await cookie(ada.user.id, { secret: "another secret of at least 32 chars" }));
  await nobody(await cookie(ada.user.id, { maxAge: -60 }));
  await nobody(await cookie("00000000-0000-7000-8000-000000000000"));
  await nobody(await cookie("nonsense"));
  await nobody("treadle.session-token=nonsense");
  const valid = await cookie(ada.user.id);
  await db().user.update({ where: { id: ada.user.id }, data: { password_hash: "a new hash" } });
  await nobody(valid);
  expect(await principalOf(new Headers({ cookie: await cookie(ada.user.id, { mark: passwordMark("a new hash") }) }))).not.toBeNull();
});

test("a page of another site that is open at the machine is not somebody at the machine", () => {
  const machine = { "x-treadle-front": "front-token", "x-treadle-on-machine": "1", host: "localhost:4000" };
  const isOnThisMachine = (headers: Record<string, string>) => visitorOf(new Headers(headers)).isOnThisMachine;
  expect(isOnThisMachine(machine)).toBe(true);
  expect(isOnThisMachine({ ...machine, origin: "http://localhost:4000" })).toBe(true);
  for (const origin of ["http://evil.example", "null", "http://localhost:4001"])
    expect(isOnThisMachine({ ...machine, origin })).toBe(false);
  expect(isOnThisMachine({ ...machine, "x-treadle-front": "forged" })).toBe(false);
  expect(isOnThisMachine({ ...machine, "x-treadle-on-machine": "0" })).toBe(false);
});

test("over HTTPS only the secure cookie counts", async () => {
  const ada = await database.newAdmin();
  setSettings({ APP_URL: "https://flows.example.com" });
  expect(await principalOf(new Headers({ cookie: await cookie(ada.user.id) }))).toBeNull();
  expect(await principalOf(new Headers({ cookie: await cookie(ada.user.id, { name: "__Host-treadle.session-token" }) }))).not.toBeNull();
});

const keyNeeds = { scope: "read" as const };

async function send(ada: ProjectPrincipal, headers: Record<string, string>, method = "POST") {
  const request = new Request("http://localhost:4000/api/v1/agents", {
    method,
    headers: { cookie: await cookie(ada.user.id), ...headers },
  });
  return createContext(request, { keyNeeds }).then(
    () => "taken",
    (error) => error.code,
  );
}

test("a browser's session changes things from our own pages only", async () => {
  const ada = await database.newAdmin();
  expect(await send(ada, { origin: "http://localhost:4000" })).toBe("taken");
  expect(await send(ada, { "sec-fetch-site": "same-origin" })).toBe("taken");
  expect(await send(ada, { origin: "http://10.0.0.5:4000", host: "10.0.0.5:4000" })).toBe("taken");
  for (const headers of [
    {},
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:4001" },
    { "sec-fetch-site": "same-site" },
    { "sec-fetch-site": "cross-site" },
  ] as Record<string, string>[]) {
    expect(await send(ada, headers)).toBe("PERMISSION_DENIED");
  }
  expect(await send(ada, {}, "GET")).toBe("taken");
});

test("a key may come from anywhere, except where only the session is taken", async () => {
  const { key } = await createPlatformKey(await database.newAdmin(), { name: "CI" });
  const request = () => new Request("http://localhost:4000/x?token=ignored", { method: "POST", headers: bearer(key) });
  expect((await createContext(request(), { keyNeeds })).principal?.auth.type).toBe("platform_key");
  await expect(createContext(request(), { sessionOnly: true })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
});

test("a key in the address counts only where it may", async () => {
  const { key } = await createPlatformKey(await database.newAdmin(), { name: "CI" });
  const request = () => new Request(`http://localhost:4000/stream?token=${key}`);
  expect((await createContext(request(), { keyNeeds })).principal).toBeNull();
  expect((await createContext(request(), { keyNeeds, allowQueryToken: true })).principal).not.toBeNull();
});

test("with one project no header is needed, with several one is, with none there is nothing", async () => {
  const ada = await database.newAdmin();
  expect((await projectOf(ada, new Headers())).project).toEqual(ada.project);
  await createProject(ada, { name: "Second" });
  await expect(projectOf(ada, new Headers())).rejects.toMatchObject({
    code: "BAD_REQUEST",
    message: expect.stringContaining("X-Project-Slug"),
  });
  await db().project.deleteMany({ where: { owner_id: ada.user.id } });
  await expect(projectOf(ada, new Headers())).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("the slug wins over the id, and an empty header is none", async () => {
  const ada = await database.newAdmin();
  const second = await createProject(ada, { name: "Second" });
  const choose = async (headers: Record<string, string>) => (await projectOf(ada, new Headers(headers))).project.id;
  expect(await choose({ "x-project-id": second.id })).toBe(second.id);
  expect(await choose({ "x-project-slug": ada.project.slug, "x-project-id": second.id })).toBe(ada.project.id);
  expect(await choose({ "x-project-slug": "", "x-project-id": second.id })).toBe(second.id);
});

test("a project that one is not in is like one that never was", async () => {
  const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
  const failure = (headers: Record<string, string>) =>
    projectOf(bob, new Headers(headers)).then(
      () => ["found"],
      (error) => [error.code, error.message],
    );
  const never = await failure({ "x-project-id": "019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10" });
  expect(never[0]).toBe("NOT_FOUND");
  expect(await failure({ "x-project-id": ada.project.id })).toEqual(never);
  expect(await failure({ "x-project-id": "nonsense" })).toEqual(never);
  expect(await failure({ "x-project-slug": ada.project.slug })).toEqual(await failure({ "x-project-slug": "never-was" }));
});

test("of several projects with one slug each is found by the one that the account calls it", async () => {
  const [ada, bob, eve] = [await database.newAdmin(), await database.newAdmin(), await database.newAdmin()];
  const shared = async (owner: ProjectPrincipal) => {
    const project = await createProject(owner, { name: "Shared" });
    await addMember({ ...owner, project }, eve.user, "viewer");
    return project;
  };
  const [first, second, own] = [await shared(ada), await shared(bob), await createProject(eve, { name: "Shared" })];
  const chosen = async (slug: string) => (await projectOf(eve, new Headers({ "x-project-slug": slug }))).project.id;
  expect(await chosen("shared")).toBe(first.id);
  expect(await chosen("shared-2")).toBe(second.id);
  expect(own.slug).toBe("shared-3");
  expect(await chosen("shared-3")).toBe(own.id);
});

test("the role is that of the moment of the request", async () => {
  const [admin, member] = [await database.newAdmin(), await database.newAdmin()];
  const role = async () => (await projectOf(member, new Headers({ "x-project-id": admin.project.id }))).role;
  await addMember(admin, member.user, "viewer");
  expect(await role()).toBe("viewer");
  await setMember(admin, { project_id: admin.project.id, email: member.user.email, role: "editor" });
  expect(await role()).toBe("editor");
});
