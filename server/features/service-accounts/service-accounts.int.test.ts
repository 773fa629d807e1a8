import { randomUUID } from "node:crypto";
import { beforeEach, expect, test } from "vitest";
import { signInWithPassword } from "#server/features/identity/sign-in.ts";
import { nameInstallAdmin } from "#server/features/install/service.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { deleteProject } from "#server/features/projects/delete.ts";
import { listMembers } from "#server/features/projects/members.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { tellReviewers } from "#server/features/reviews/tell.ts";
import {
  createServiceAccount,
  createServiceKey,
  deleteServiceAccount,
  listServiceAccounts,
  updateServiceAccount,
} from "#server/features/service-accounts/service.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { projectOf } from "#server/platform/auth/project-of.ts";
import { db } from "#server/platform/db/client.ts";
import { addMember } from "#server/testing/add-member.ts";
import { newPausedRun, openReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const page = { page: 1, per_page: 50 };
let admin: ProjectPrincipal;
beforeEach(async () => {
  admin = await database.newAdmin();
});

async function program(role: "viewer" | "editor" = "editor", by = admin) {
  const account = await createServiceAccount(by, { name: "Nightly Report", role });
  const { key } = await createServiceKey(by, { account_id: account.id, name: "cron" });
  const call = async (method: string, path: string, body?: object) => {
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const answer = await handleRest(
      new Request(`http://localhost:4000/api/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) }),
    );
    return { status: answer.status, body: answer.status === 204 ? {} : JSON.parse(await answer.text()) };
  };
  return { account, key, call };
}

test("it works in its project in its own name, also when whoever made it has left", async () => {
  const founder = await database.newAdmin();
  await addMember(founder, admin.user, "admin");
  const { account, call } = await program("editor", founder);
  await db().membership.deleteMany({ where: { project_id: founder.project.id, user_id: founder.user.id } });
  const made = await call("POST", "/workflows", { name: "By a program" });
  expect(made.status).toBe(201);
  const entry = await db().auditEntry.findFirstOrThrow({ where: { resource_id: made.body.id } });
  expect(entry).toMatchObject({ actor_id: account.id, actor_email: account.email, via: "platform_key", action: "workflow.create" });
  expect(account.email).toMatch(/^nightly-report-[0-9a-f]{8}@service\.invalid$/);
  expect((await call("GET", "/auth/me")).body).toMatchObject({ id: account.id, name: "Nightly Report" });
});

test("a role bounds it, at once, and nothing of accounts, other projects, members or the install opens to it", async () => {
  const { account, call } = await program("viewer");
  expect((await call("POST", "/workflows", { name: "No" })).status).toBe(403);
  await updateServiceAccount(admin, { account_id: account.id, role: "editor" });
  expect((await call("POST", "/workflows", { name: "Yes" })).status).toBe(201);
  for (const [method, path, body] of [
    ["POST", "/projects", { name: "Own" }],
    ["POST", "/platform-keys", { name: "More" }],
    ["PUT", "/users/me", { name: "Other" }],
    ["DELETE", "/users/me", {}],
    ["GET", "/users/me/sessions", undefined],
    ["POST", `/projects/${admin.project.id}/members`, { email: "eve@example.com", role: "admin" }],
    ["GET", "/install/people", undefined],
    ["POST", "/service-accounts", { name: "Child", role: "viewer" }],
  ] as const)
    expect([path, (await call(method, path, body)).status]).toEqual([path, 403]);
  const elsewhere = await database.newAdmin();
  expect((await call("GET", `/projects/${elsewhere.project.id}`)).status).toBe(404);
});

test("it cannot sign in, is no member that people see, and becomes no admin by its address", async () => {
  const { account } = await program();
  expect(await signInWithPassword(account.email, "", randomUUID())).toBeNull();
  expect((await listMembers(admin, { project_id: admin.project.id, ...page })).items.map(({ user_id }) => user_id)).toEqual([
    admin.user.id,
  ]);
  await expect(setMember(admin, { project_id: admin.project.id, email: account.email, role: "admin" })).rejects.toThrow("service account");
  const other = await database.newAdmin();
  await expect(setMember(other, { project_id: other.project.id, email: account.email, role: "viewer" })).rejects.toThrow("service account");
  const owner = await database.newInstallAdmin();
  await expect(nameInstallAdmin(owner, { email: account.email, accept_unverified: true })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
});

test("another project's admin finds none of it, and a key makes none with more rights than its own", async () => {
  const { account } = await program();
  const other = await database.newAdmin();
  for (const refused of [
    () => updateServiceAccount(other, { account_id: account.id, role: "viewer" }),
    () => createServiceKey(other, { account_id: account.id, name: "Mine" }),
    () => deleteServiceAccount(other, { account_id: account.id }),
    () => deleteServiceAccount(admin, { account_id: other.user.id }),
    () => createServiceKey(admin, { account_id: admin.user.id, name: "A person" }),
  ])
    await expect(refused()).rejects.toMatchObject({ code: "NOT_FOUND" });
  const { key } = await createPlatformKey(admin, { name: "Writes", scopes: ["write"] });
  const headers = new Headers({ authorization: `Bearer ${key}` });
  const principal = await principalOf(headers);
  if (!principal) throw new Error("nobody");
  const writer = await projectOf(principal, headers);
  await expect(createServiceKey(writer, { account_id: account.id, name: "Reads", scopes: ["read"] })).rejects.toMatchObject({
    code: "PERMISSION_DENIED",
  });
});

test("it is told of nothing, neither in the app nor by mail: of a review only the people are", async () => {
  const { account } = await program("editor");
  const execution_id = await newPausedRun(admin);
  const { id } = await openReview(execution_id, "a", {});
  await tellReviewers(id);
  const told = await db().notification.findMany({ where: { project_id: admin.project.id }, select: { user_id: true } });
  expect(told).toEqual([{ user_id: admin.user.id }]);
  expect(told).not.toContainEqual({ user_id: account.id });
});

test("deleted, its keys are nobody's, and its name stays on what it did; it goes with its project", async () => {
  const founder = await database.newAdmin();
  const [gone, stays] = [await program("editor", founder), await program("editor", founder)];
  await gone.call("POST", "/workflows", { name: "Before" });
  await deleteServiceAccount(founder, { account_id: gone.account.id });
  expect((await gone.call("GET", "/workflows")).status).toBe(401);
  await expect(createServiceKey(founder, { account_id: gone.account.id, name: "Again" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect((await listServiceAccounts(founder, page)).items).toMatchObject([{ id: stays.account.id, keys: 1 }]);
  expect((await db().user.findUniqueOrThrow({ where: { id: gone.account.id } })).name).toBe("Nightly Report");
  await deleteProject(founder, { project_id: founder.project.id });
  expect(await db().user.count({ where: { id: { in: [gone.account.id, stays.account.id] } } })).toBe(0);
  expect((await stays.call("GET", "/workflows")).status).toBe(401);
});
