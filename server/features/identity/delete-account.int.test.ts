import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { deleteAccount, getAccountDeletion } from "#server/features/identity/delete-account.ts";
import { getInstallStatus, setUpOwner } from "#server/features/identity/first-owner.ts";
import type { DeleteAccountInput } from "#server/features/identity/schema.ts";
import { signInWithPassword } from "#server/features/identity/sign-in.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { deleteProject } from "#server/features/projects/delete.ts";
import { createProject } from "#server/features/projects/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { listExecutions } from "#server/runs/use-cases/list-executions.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { addMember } from "#server/testing/add-member.ts";
import { quickHash } from "#server/testing/quick-hash.ts";
import { collectEvents, newPausedRun, openReview } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { testKeyAuth } from "#server/testing/test-key-auth.ts";

const database = testDatabase();
beforeAll(() => {
  collectEvents();
});
afterAll(() => vi.restoreAllMocks());

const password = "correct horse battery";
const hashed = quickHash(password);

async function withPassword(): Promise<ProjectPrincipal> {
  const person = await database.newAdmin();
  await db().user.update({ where: { id: person.user.id }, data: { password_hash: await hashed } });
  return person;
}
const remove = (who: Principal, input: Partial<DeleteAccountInput> = {}) =>
  deleteAccount(who, { password, delete_projects: false, ...input });
const join = (admin: ProjectPrincipal, { user }: Principal, role: Role) => addMember(admin, user, role);
const inProjectOf = (who: Principal, { project }: ProjectPrincipal): ProjectPrincipal => ({ ...who, project, role: "admin" });
const named = (name: string) => expect.objectContaining({ code: "CONFLICT", message: expect.stringContaining(`"${name}"`) });

test("it needs the password, and says which projects stand in the way, and why", async () => {
  const [ada, bob] = [await withPassword(), await withPassword()];
  await expect(remove(ada, { password: undefined })).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "password" }] });
  await expect(remove(ada, { password: "wrong" })).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "password" }] });
  await expect(remove(ada)).rejects.toEqual(named(ada.project.name));
  await join(ada, bob, "editor");
  expect(await getAccountDeletion(ada)).toEqual({
    has_password: true,
    alone: [],
    last_admin: [{ id: ada.project.id, name: ada.project.name }],
    shared: [],
  });
  // Others are in it: no flag deletes it from under them.
  await expect(remove(ada, { delete_projects: true })).rejects.toEqual(named(ada.project.name));
  expect(await db().membership.count({ where: { user_id: ada.user.id } })).toBe(1);
  expect(await signInWithPassword(ada.user.email, password, "x")).not.toBeNull();
});

test("an account without a password confirms its address, in the web app only", async () => {
  const ada = await database.newAdmin();
  const all = { delete_projects: true };
  const byKey = { ...ada, auth: testKeyAuth() };
  await expect(deleteAccount(byKey, { confirm_email: ada.user.email, ...all })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(deleteAccount(ada, { confirm_email: "other@example.com", ...all })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await deleteAccount(ada, { confirm_email: ada.user.email.toUpperCase(), ...all });
  expect(await db().project.count({ where: { id: ada.project.id } })).toBe(0);
});

test("what was done in a project that goes on keeps the name; keys, address and own projects go", async () => {
  const [ada, bob] = [await withPassword(), await withPassword()];
  const second = await createProject(bob, { name: ada.project.name });
  await join(ada, bob, "admin");
  const { key } = await createPlatformKey(ada, { name: "CI" });
  const execution_id = await newPausedRun(ada);
  await openReview(execution_id, "a");
  await approveExecution(ada, { execution_id, decision: "approved" });
  const ownProject = await createProject(ada, { name: "Nobody else's" });

  expect((await getAccountDeletion(ada)).alone).toEqual([{ id: ownProject.id, name: ownProject.name }]);
  await remove(ada, { delete_projects: true });

  expect(await principalOf(new Headers({ authorization: `Bearer ${key}` }))).toBeNull();
  expect(await signInWithPassword(ada.user.email, password, "x")).toBeNull();
  expect(await db().project.count({ where: { id: ownProject.id } })).toBe(0);
  const after = inProjectOf(bob, ada);
  const execution = await getExecution(after, { execution_id });
  expect(execution.started_by).toEqual({ id: ada.user.id, name: ada.user.name });
  expect(execution.reviews[0]?.reviewer).toMatchObject({ email: ada.user.email, name: ada.user.name });
  const entries = await db().auditEntry.findMany({ where: { project_id: ada.project.id }, orderBy: { id: "desc" } });
  expect(entries[0]).toMatchObject({ action: "member.leave", actor_email: ada.user.email, resource_id: ada.user.id });
  // The project passes to bob, who has one of that slug already.
  const project = await db().project.findUniqueOrThrow({ where: { id: ada.project.id } });
  expect(project).toMatchObject({ owner_id: bob.user.id, slug: `${second.slug}-2` });
  // The address can come back, as somebody else.
  const again = await setMember(after, { project_id: ada.project.id, email: ada.user.email, role: "viewer" });
  expect(again.status).toBe("invited");
});

test("two admins who delete their accounts at once leave one", async () => {
  for (let round = 0; round < 5; round++) {
    const [ada, bob, eve] = [await withPassword(), await withPassword(), await withPassword()];
    await join(ada, bob, "admin");
    await join(ada, eve, "viewer");
    const results = await Promise.allSettled([remove(ada, { delete_projects: true }), remove(bob, { delete_projects: true })]);
    expect(results.map(({ status }) => status).sort()).toEqual(["fulfilled", "rejected"]);
    expect(await db().membership.count({ where: { project_id: ada.project.id, role: "admin" } })).toBe(1);
  }
});

test("a deleted project is gone for all its members at once; its runs are cancelled, its webhook and schedule are no more", async () => {
  const [ada, bob] = [await withPassword(), await withPassword()];
  await join(ada, bob, "editor");
  const execution_id = await newPausedRun(ada);
  const { workflow_id } = await db().execution.findUniqueOrThrow({ where: { id: execution_id } });
  await db().webhook.create({ data: { workflow_id, sealed_secret: "x" } });
  await db().schedule.create({ data: { workflow_id, cron_expression: "0 9 * * *" } });
  const sent = collectEvents();
  await deleteProject(ada, { project_id: ada.project.id });
  expect(sent).toMatchObject([{ name: "execution/cancelled", data: { execution_id } }]);
  expect(await db().membership.count({ where: { project_id: ada.project.id } })).toBe(0);
  expect([
    await db().execution.count({ where: { id: execution_id } }),
    await db().webhook.count({ where: { workflow_id } }),
    await db().schedule.count({ where: { workflow_id } }),
    await db().project.count({ where: { id: ada.project.id } }),
  ]).toEqual([0, 0, 0, 0]);
  // The slug is free, and a user without any project is a user.
  expect((await createProject(ada, { name: ada.project.name })).slug).toBe(ada.project.slug);
  expect((await listExecutions(ada, { page: 1, per_page: 50 })).total).toBe(0);
});

const atTheMachine = { address: "127.0.0.1", isOnThisMachine: true };

test("when the last account is deleted the install waits for an owner again", async () => {
  await db().user.updateMany({ data: { deleted_at: new Date() } });
  const ada = await withPassword();
  expect((await getInstallStatus(atTheMachine)).is_empty).toBe(false);
  await remove(ada, { delete_projects: true });
  expect((await getInstallStatus(atTheMachine)).is_empty).toBe(true);
  await setUpOwner({ email: ada.user.email, name: "Ada again", password }, atTheMachine);
  expect((await getInstallStatus(atTheMachine)).is_empty).toBe(false);
});
