import { beforeEach, expect, test } from "vitest";
import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { deleteAccount } from "#server/features/identity/delete-account.ts";
import { getInvitation } from "#server/features/identity/invitations.ts";
import { listPendingInvitations, removeMember } from "#server/features/projects/members.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { createServiceAccount, createServiceKey, listServiceAccounts } from "#server/features/service-accounts/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { addMember } from "#server/testing/add-member.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const page = { page: 1, per_page: 50 };
let admin: ProjectPrincipal;
/** A second admin of the same project, who is about to lose that role. */
let former: ProjectPrincipal;
let project_id: string;
let count = 0;

beforeEach(async () => {
  [admin, former] = [await database.newAdmin(), await database.newAdmin()];
  project_id = admin.project.id;
  await addMember(admin, former.user, "admin");
  former = { ...former, project: admin.project };
});

async function invite(by: ProjectPrincipal): Promise<string> {
  const { invite_url } = await setMember(by, { project_id, email: `invited-${++count}@example.com`, role: "admin" });
  return invite_url?.split("/invite/")[1] ?? "";
}

const ENDS: Record<string, () => Promise<unknown>> = {
  removed: () => removeMember(admin, { project_id, user_id: former.user.id }),
  demoted: () => setMember(admin, { project_id, email: former.user.email, role: "editor" }),
  deleted: () => deleteAccount(former, { confirm_email: former.user.email, delete_projects: true }),
};

test.each(Object.keys(ENDS))("an invitation by an admin who was %s since is void", async (end) => {
  const [theirs, kept] = [await invite(former), await invite(admin)];

  await ENDS[end]?.();

  await expect(getInvitation({ token: theirs })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(acceptInvitation({ token: theirs, name: "Eve", password: "long enough" }, null)).rejects.toMatchObject({
    code: "NOT_FOUND",
  });
  expect(await getInvitation({ token: kept })).toMatchObject({ role: "admin" });
  expect((await listPendingInvitations(admin, { project_id, ...page })).total).toBe(1);
});

test("an invitation written while its admin was being removed is void", async () => {
  const token = await invite(former);
  const { token_hash, ...row } = await db().invitation.findFirstOrThrow({ where: { invited_by_id: former.user.id } });
  await ENDS.removed?.();
  await db().invitation.create({ data: { ...row, token_hash } });

  await expect(acceptInvitation({ token, name: "Eve", password: "long enough" }, null)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

/** A service account of each admin, with a key. */
async function programs() {
  const of = async (by: ProjectPrincipal) => {
    const account = await createServiceAccount(by, { name: "Program", role: "editor" });
    const { key } = await createServiceKey(by, { account_id: account.id, name: "cron" });
    return { ...account, isIn: async () => (await principalOf(new Headers({ authorization: `Bearer ${key}` }))) !== null };
  };
  return { theirs: await of(former), other: await of(admin) };
}

test("the list of service accounts names who created each", async () => {
  const { theirs, other } = await programs();

  const { items } = await listServiceAccounts(admin, page);

  expect(items).toMatchObject([
    { id: other.id, created_by_id: admin.user.id },
    { id: theirs.id, created_by_id: former.user.id },
  ]);
});

test("removing an admin keeps the service accounts they created unless told otherwise", async () => {
  const { theirs } = await programs();

  await ENDS.removed?.();

  expect(await theirs.isIn()).toBe(true);
});

test("removing an admin can end the service accounts they created, and no others", async () => {
  const { theirs, other } = await programs();

  await removeMember(admin, { project_id, user_id: former.user.id, service_accounts: "end" });

  expect([await theirs.isIn(), await other.isIn()]).toEqual([false, true]);
  expect((await listServiceAccounts(admin, page)).items.map(({ id }) => id)).toEqual([other.id]);
  const entries = await db().auditEntry.findMany({ where: { project_id, action: "service_account.delete" } });
  expect(entries.map(({ resource_id, actor_id }) => [resource_id, actor_id])).toEqual([[theirs.id, admin.user.id]]);
});
