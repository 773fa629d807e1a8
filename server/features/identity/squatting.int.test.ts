import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { deleteAccount } from "#server/features/identity/delete-account.ts";
import { declineInvitation, listOwnInvitations } from "#server/features/identity/invitations.ts";
import { resumeMemberships } from "#server/features/identity/new-account.ts";
import { getProfile } from "#server/features/identity/profile.ts";
import { signInWithPassword, signInWithProvider } from "#server/features/identity/sign-in.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { createProject } from "#server/features/projects/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Two who want what is not theirs. The squatter makes an account for somebody else's address and waits for that to be given
// something. The hostile inviter invites an address that has an account, and is given a link to it.

const database = testDatabase();
beforeAll(() => {
  setSettings({ APP_URL: "http://localhost:4000" });
  vi.stubEnv("AUTH_TRUST_HOST", "1");
});
afterAll(() => vi.unstubAllEnvs());

const theirs = "the password of whoever made it";
const chosen = "a password that the person chose";
let count = 0;
const address = () => `victim-${++count}@example.com`;

async function invited(admin: ProjectPrincipal, email: string): Promise<{ token: string; account: unknown }> {
  const { status, invite_url, account, user_id } = await setMember(admin, { project_id: admin.project.id, email, role: "editor" });
  expect([status, user_id]).toEqual(["invited", undefined]);
  return { token: invite_url?.split("/invite/")[1] ?? "", account };
}

interface Holder extends Principal {
  /** Whether the session and the key that the account had then are still good. */
  isIn(): Promise<{ session: boolean; key: boolean }>;
}

/** Somebody who opened the admin's own link for this address, with a session and a key since. */
async function holderOf(email: string, admin: ProjectPrincipal): Promise<Holder> {
  const { token } = await invited(admin, email);
  const user = await acceptInvitation({ token, name: "Whoever", password: theirs }, null);
  const browser = authBrowser();
  await browser.post("/callback/credentials", { email, password: theirs });
  const principal: Principal = { user, auth: { type: "session" } };
  const { key } = await createPlatformKey(principal, { name: "CI" });
  const isIn = async () => ({
    session: (await principalOf(browser.cookieHeader())) !== null,
    key: (await principalOf(new Headers({ authorization: `Bearer ${key}` }))) !== null,
  });
  expect(await isIn()).toEqual({ session: true, key: true });
  return { ...principal, isIn };
}

const projectsOf = async (who: Principal) => (await getProfile(who)).projects.map(({ id }) => id);

test("a squatter is not let in where the address is added later, and loses the account to whoever gets the link", async () => {
  const [squatter, admin] = [await database.newAdmin(), await database.newAdmin()];
  const email = address();
  const account = await holderOf(email, squatter);
  const { token, account: told } = await invited(admin, email);
  expect(told).toEqual({
    verified: false,
    created_at: expect.any(String),
    made_through: "invitation",
    invited_by: squatter.user.email,
  });
  expect(await projectsOf(account)).toEqual([squatter.project.id]);
  // Nor is the squatter asked, who could say yes.
  expect((await listOwnInvitations(account)).items).toEqual([]);
  const { id } = await db().invitation.findFirstOrThrow({ where: { project_id: admin.project.id } });
  await expect(acceptInvitation({ token: id }, account)).rejects.toMatchObject({ code: "NOT_FOUND" });

  await acceptInvitation({ token, name: "Vera", password: chosen }, null);
  expect(await account.isIn()).toEqual({ session: false, key: false });
  expect(await signInWithPassword(email, theirs, "x")).toBeNull();
  const vera = await signInWithPassword(email, chosen, "x");
  expect(vera).toMatchObject({ id: account.user.id, name: "Vera" });
  // What the squatter had prepared is not hers, unless she has the squatter's password.
  expect(await projectsOf(account)).toEqual([admin.project.id]);
  await expect(resumeMemberships(account, { password: chosen })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a hostile inviter who opens the link to somebody's account finds nothing of theirs in it, and they get it back", async () => {
  const [admin, hostile] = [await database.newAdmin(), await database.newAdmin()];
  const email = address();
  const ada = await holderOf(email, admin);
  const own = await createProject(ada, { name: "Ada's own" });
  const { token } = await invited(hostile, email);
  await acceptInvitation({ token, password: chosen }, null);
  expect(await projectsOf(ada)).toEqual([hostile.project.id]);
  expect(await listOwnInvitations(ada)).toEqual({ items: [], has_earlier: true });
  await expect(resumeMemberships(ada, { password: chosen })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(resumeMemberships(ada, { password: "" })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });

  // Her admin invites her once more; the password that she had opens the rest.
  const again = await invited(admin, email);
  await acceptInvitation({ token: again.token, password: "her next password" }, null);
  expect(await projectsOf(ada)).toEqual([admin.project.id]);
  expect(await resumeMemberships(ada, { password: theirs })).toEqual({ projects: [own.name] });
  expect((await projectsOf(ada)).sort()).toEqual([admin.project.id, own.id].sort());
  expect((await db().project.findUniqueOrThrow({ where: { id: own.id } })).owner_id).toBe(ada.user.id);
});

test("deleting an account that was taken so deletes nothing of whose it was", async () => {
  const [admin, hostile] = [await database.newAdmin(), await database.newAdmin()];
  const email = address();
  const ada = await holderOf(email, admin);
  const own = await createProject(ada, { name: "Ada's own" });
  await acceptInvitation({ token: (await invited(hostile, email)).token, password: chosen }, null);
  await deleteAccount(ada, { password: chosen, delete_projects: true });
  const again = await acceptInvitation({ token: (await invited(admin, email)).token, name: "Ada", password: chosen }, null);
  const back: Principal = { user: again, auth: { type: "session" } };
  await resumeMemberships(back, { password: theirs });
  expect((await projectsOf(back)).sort()).toEqual([admin.project.id, own.id].sort());
});

test("the link joins with all that the account has for who has its password or its session", async () => {
  const [first, second, third] = [await database.newAdmin(), await database.newAdmin(), await database.newAdmin()];
  const email = address();
  const ada = await holderOf(email, first);
  await acceptInvitation({ token: (await invited(second, email)).token, password: theirs }, null);
  await acceptInvitation({ token: (await invited(third, email)).token }, ada);
  expect(await ada.isIn()).toEqual({ session: true, key: true });
  expect(await projectsOf(ada)).toEqual([first.project.id, second.project.id, third.project.id]);
  // The session of somebody else is none of this account.
  const { token } = await invited(first, address());
  await expect(acceptInvitation({ token }, ada)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
});

test("a provider's first word on an address ends the password, the sessions and the keys that the account had before", async () => {
  const squatter = await database.newAdmin();
  const email = address();
  const account = await holderOf(email, squatter);
  const vera = await signInWithProvider({ email, name: "Vera" });
  expect(vera?.id).toBe(account.user.id);
  expect(await account.isIn()).toEqual({ session: false, key: false });
  expect(await signInWithPassword(email, theirs, "x")).toBeNull();
  expect(vera?.email_verified_at).not.toBeNull();
});

test("a verified account is asked, may decline, and no link opens it without its password", async () => {
  const [admin, hostile] = [await database.newAdmin(), await database.newAdmin()];
  const email = address();
  const ada = await holderOf(email, admin);
  await db().user.update({ where: { id: ada.user.id }, data: { email_verified_at: new Date() } });
  const { token, account } = await invited(hostile, email);
  expect(account).toMatchObject({ verified: true });
  await expect(acceptInvitation({ token, password: chosen }, null)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(acceptInvitation({ token }, hostile)).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(await projectsOf(ada)).toEqual([admin.project.id]);
  const [asked] = (await listOwnInvitations(ada)).items;
  expect(asked).toMatchObject({
    project: { id: hostile.project.id, name: hostile.project.name },
    invited_by: `${hostile.user.name} (${hostile.user.email})`,
    role: "editor",
    was_member: false,
  });
  // Nobody else answers for her.
  await expect(declineInvitation(hostile, { invitation_id: asked?.id ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await declineInvitation(ada, { invitation_id: asked?.id ?? "" });
  await expect(acceptInvitation({ token, password: theirs }, null)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await invited(hostile, email);
  const [again] = (await listOwnInvitations(ada)).items;
  await acceptInvitation({ token: again?.id ?? "" }, ada);
  expect(await projectsOf(ada)).toEqual([admin.project.id, hostile.project.id]);
});
