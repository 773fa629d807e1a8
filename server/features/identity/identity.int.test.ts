import { afterEach, expect, test } from "vitest";
import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { bootstrapOwner, setUpOwner } from "#server/features/identity/first-owner.ts";
import { getInvitation, listOwnInvitations } from "#server/features/identity/invitations.ts";
import { changePassword, getProfile } from "#server/features/identity/profile.ts";
import { readIdentity } from "#server/features/identity/provider-identity.ts";
import { AuthInfo, UserProfile } from "#server/features/identity/schema.ts";
import { signInWithPassword, signInWithProvider } from "#server/features/identity/sign-in.ts";
import { signUp } from "#server/features/identity/sign-up.ts";
import { listPeople } from "#server/features/install/people.ts";
import { PersonPage } from "#server/features/install/schema.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import type { Principal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { Email } from "#server/shared/primitives-schema.ts";
import { identityOf } from "#server/testing/provider-identity.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
afterEach(() => setSettings({ ALLOW_SIGNUP: "0" }));

const password = "correct horse battery";
const principal = (user: { id: string; email: string; name: string }): Principal => ({ user, auth: { type: "session" } });

const atTheMachine = { address: "127.0.0.1", isOnThisMachine: true };

const wipe = async () => {
  await db().project.deleteMany();
  await db().user.deleteMany();
};

const tokenOf = (inviteUrl: string | undefined) => inviteUrl?.split("/invite/")[1] ?? "";

test("of several who set up an empty install at once, one becomes the owner, with a project", async () => {
  await wipe();
  const tries = ["a", "b", "c", "d"].map((name) => setUpOwner({ email: `${name}@example.com`, name, password }, atTheMachine));
  const results = await Promise.allSettled(tries);
  const [winner, ...more] = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  expect(more).toEqual([]);
  const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
  expect(refused).toEqual(["CONFLICT", "CONFLICT", "CONFLICT"]);
  expect(await db().user.count()).toBe(1);
  if (!winner) throw new Error("nobody won");
  expect((await getProfile(principal(winner))).projects).toEqual([
    expect.objectContaining({ slug: "my-project", name: "My project", role: "admin" }),
  ]);
});

test("from elsewhere the owner is made with the code of this start only, and codes are counted", async () => {
  await wipe();
  setSettings({ TREADLE_SETUP_CODE: "the code of this start" });
  const owner = { email: "owner@example.com", name: "Owner", password };
  const stranger = { address: "203.0.113.5", isOnThisMachine: false };
  for (const code of [undefined, "", "the code of an earlier start"])
    await expect(setUpOwner({ ...owner, code }, stranger)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  setSettings({ TREADLE_SETUP_CODE: "" });
  for (const code of [undefined, "", "the code of this start"])
    await expect(setUpOwner({ ...owner, code }, stranger)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  setSettings({ TREADLE_SETUP_CODE: "the code of this start" });
  const tries = Array.from({ length: 12 }, (_, n) => setUpOwner({ ...owner, code: `guess ${n}` }, stranger).catch(({ code }) => code));
  expect(await Promise.all(tries)).toContain("RATE_LIMIT_EXCEEDED");
  expect(await db().user.count()).toBe(0);
  // Nor does it help to try from everywhere so that nobody else may.
  const everywhere = Array.from({ length: 60 }, (_, n) => ({ address: `203.0.113.${10 + n}`, isOnThisMachine: false }));
  for (const other of everywhere) await setUpOwner({ ...owner, code: "guess" }, other).catch(() => undefined);
  const operator = { address: "198.51.100.7", isOnThisMachine: false };
  expect(await setUpOwner({ ...owner, code: "the code of this start" }, operator)).toMatchObject({ email: owner.email });
  setSettings({ TREADLE_SETUP_CODE: "" });
});

test("nobody who signs up or comes by a provider becomes the first of an install", async () => {
  await wipe();
  setSettings({ ALLOW_SIGNUP: "1" });
  await expect(signUp({ email: "first@example.com", name: "First", password })).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  expect(await signInWithProvider(identityOf("first@example.com"))).toBe("AccessDenied");
  expect(await db().user.count()).toBe(0);
});

test("a headless start makes owner, project and key once, and only when nobody is there", async () => {
  await wipe();
  const key = `sk-service-${"k".repeat(43)}`;
  const settings = { BOOTSTRAP_EMAIL: "Owner@Example.com", BOOTSTRAP_PASSWORD: password, BOOTSTRAP_API_KEY: key };
  const made = await Promise.all([bootstrapOwner(settings), bootstrapOwner(settings)]);
  expect(made.sort()).toEqual([false, true]);
  expect(await bootstrapOwner({ ...settings, BOOTSTRAP_EMAIL: "other@example.com" })).toBe(false);
  expect(await principalOf(new Headers({ authorization: `Bearer ${key}` }))).toMatchObject({
    user: { email: "owner@example.com" },
    auth: { type: "platform_key" },
  });
  expect(await db().platformKey.findMany({ select: { key_hash: true } })).not.toContainEqual({ key_hash: key });
});

test("a headless start without settings does nothing, with half of them it says so", async () => {
  await wipe();
  const none = { BOOTSTRAP_EMAIL: undefined, BOOTSTRAP_PASSWORD: undefined, BOOTSTRAP_API_KEY: undefined };
  expect(await bootstrapOwner(none)).toBe(false);
  await expect(bootstrapOwner({ ...none, BOOTSTRAP_EMAIL: "a@example.com" })).rejects.toThrow(/BOOTSTRAP_PASSWORD/);
  expect(await db().user.count()).toBe(0);
});

test("sign-up is closed unless it is opened, and then gives a project", async () => {
  const input = { email: "Grace@Example.com", name: "Grace", password };
  setSettings({ ALLOW_SIGNUP: "1" });
  await expect(signUp(input)).rejects.toMatchObject({ code: "PERMISSION_DENIED", message: expect.stringContaining("no owner yet") });
  await database.newAdmin();
  setSettings({ ALLOW_SIGNUP: "0" });
  await expect(signUp(input)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  setSettings({ ALLOW_SIGNUP: "1" });
  const user = await signUp(input);
  expect(user.email).toBe("grace@example.com");
  expect((await getProfile(principal(user))).projects).toMatchObject([{ slug: "my-project", role: "admin" }]);
  await expect(signUp({ ...input, email: "GRACE@example.com" })).rejects.toMatchObject({ code: "CONFLICT" });
});

test("the right password signs in, in any case of the address; everything else is nobody", async () => {
  setSettings({ ALLOW_SIGNUP: "1" });
  const user = await signUp({ email: "linus@example.com", name: "Linus", password });
  expect(await signInWithPassword("LINUS@example.com", password, "127.0.0.1")).toMatchObject(user);
  expect(await signInWithPassword("linus@example.com", `${password}!`, "127.0.0.1")).toBeNull();
  expect(await signInWithPassword("nobody@example.com", password, "127.0.0.1")).toBeNull();
});

test("ten wrong passwords from one address close the account for that address only", async () => {
  setSettings({ ALLOW_SIGNUP: "1" });
  await signUp({ email: "target@example.com", name: "Target", password });
  const guess = (text: string, address: string) => signInWithPassword("target@example.com", text, address);
  // All at once, as somebody who guesses would.
  const guesses = await Promise.allSettled(Array.from({ length: 14 }, (_, n) => guess(`guess ${n}`, "198.51.100.1")));
  const refused = guesses.flatMap((result) => (result.status === "rejected" ? [result.reason] : []));
  expect(refused).toHaveLength(4);
  expect(refused[0]).toMatchObject({ code: "RATE_LIMIT_EXCEEDED", message: "Too many tries. Wait 15 minutes and try again." });
  await expect(guess(password, "198.51.100.1")).rejects.toMatchObject({ code: "RATE_LIMIT_EXCEEDED" });
  expect(await guess(password, "198.51.100.2")).toMatchObject({ email: "target@example.com" });
});

test("a right password takes back the tries before it", async () => {
  setSettings({ ALLOW_SIGNUP: "1" });
  await signUp({ email: "typo@example.com", name: "Typo", password });
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 9; n++) expect(await signInWithPassword("typo@example.com", "wrong", "198.51.100.3")).toBeNull();
    expect(await signInWithPassword("typo@example.com", password, "198.51.100.3")).not.toBeNull();
  }
});

test("a new password needs the old one, and replaces it", async () => {
  setSettings({ ALLOW_SIGNUP: "1" });
  const user = await signUp({ email: "change@example.com", name: "Change", password });
  const change = (current_password: string) => changePassword(principal(user), { current_password, new_password: "a new password" });
  await expect(change("wrong")).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "current_password" }] });
  await change(password);
  expect(await signInWithPassword(user.email, password, "x")).toBeNull();
  expect(await signInWithPassword(user.email, "a new password", "x")).not.toBeNull();
});

test("a new password ends the API keys when it is told to, and leaves them else", async () => {
  await database.newAdmin();
  setSettings({ ALLOW_SIGNUP: "1" });
  const user = await signUp({ email: "keys@example.com", name: "Keys", password });
  const { key } = await createPlatformKey(principal(user), { name: "CI" });
  const isKeyGood = async () => (await principalOf(new Headers({ authorization: `Bearer ${key}` }))) !== null;
  await changePassword(principal(user), { current_password: password, new_password: "a second password" });
  expect(await isKeyGood()).toBe(true);
  await changePassword(principal(user), { current_password: "a second password", new_password: password, end_api_keys: true });
  expect(await isKeyGood()).toBe(false);
});

test("an address whose lower case is somebody else's is not theirs", async () => {
  await database.newAdmin();
  setSettings({ ALLOW_SIGNUP: "1" });
  await signUp({ email: "kim@example.com", name: "Kim", password });
  const mallory = { iss: "https://id.example.com", sub: "mallory", email: "\u212aim@example.com" };
  expect(readIdentity("oidc", mallory)).toMatchObject({ email: { problem: "UnusableAddress" } });
  expect(await signInWithPassword("kim@example.com", password, "x")).not.toBeNull();
  // Nor is it one that can be invited or signs up.
  expect(Email.safeParse("\u212aim@example.com").success).toBe(false);
});

test("an invitation can be read, is accepted once, and leads into its project only", async () => {
  const admin = await database.newAdmin();
  const { invite_url, status } = await setMember(admin, { project_id: admin.project.id, email: "Invited@Example.com", role: "editor" });
  expect(status).toBe("invited");
  const token = tokenOf(invite_url);
  const { name, slug } = admin.project;
  expect(await getInvitation({ token })).toMatchObject({ email: "invited@example.com", project: { name, slug }, role: "editor" });
  const accept = () => acceptInvitation({ token, name: "Invited", password }, null);
  const results = await Promise.allSettled([accept(), accept()]);
  expect(results.map((result) => result.status).sort()).toEqual(["fulfilled", "rejected"]);
  await expect(accept()).rejects.toMatchObject({ code: "CONFLICT" });
  await expect(getInvitation({ token })).rejects.toMatchObject({ code: "CONFLICT" });
  const user = await signInWithPassword("invited@example.com", password, "x");
  if (!user) throw new Error("no account");
  expect((await getProfile(principal(user))).projects).toMatchObject([{ id: admin.project.id, role: "editor" }]);
  expect(
    await db().auditEntry.findMany({ where: { project_id: admin.project.id }, orderBy: { id: "asc" }, select: { action: true } }),
  ).toEqual([{ action: "member.invite" }, { action: "member.join" }]);
});

test("an unknown, an expired and a replaced invitation are not there", async () => {
  await expect(getInvitation({ token: "unknown" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const admin = await database.newAdmin();
  const invite = async () =>
    tokenOf((await setMember(admin, { project_id: admin.project.id, email: "late@example.com", role: "viewer" })).invite_url);
  const [first, second] = [await invite(), await invite()];
  await expect(getInvitation({ token: first })).rejects.toMatchObject({ code: "NOT_FOUND" });
  const { expires_at } = await getInvitation({ token: second });
  const days = (Date.parse(expires_at) - Date.now()) / 86_400_000;
  expect(days).toBeGreaterThan(6.9);
  expect(days).toBeLessThanOrEqual(7);
  await db().invitation.updateMany({ where: { email: "late@example.com" }, data: { expires_at: new Date(Date.now() - 1000) } });
  await expect(acceptInvitation({ token: second, name: "Late", password }, null)).rejects.toMatchObject({ code: "NOT_FOUND" });
});

/** Signs in through a service. @throws Error when that opens no account */
async function entered(address: string) {
  const user = await signInWithProvider(identityOf(address));
  if (typeof user === "string") throw new Error(user);
  return user;
}

test("a sign-in provider opens the account of the address, or one that was invited, and no other", async () => {
  expect(await signInWithProvider(identityOf("stranger@example.com"))).toBe("AccessDenied");
  const admin = await database.newAdmin();
  await setMember(admin, { project_id: admin.project.id, email: "sso@example.com", role: "editor" });
  const created = await entered("sso@example.com");
  expect(created).toMatchObject({ email: "sso@example.com", name: "Sam", password_hash: null });
  const sam = principal({ ...admin.user, id: created.id, email: "sso@example.com" });
  // The provider vouches for the address, and so the person is asked.
  expect((await getProfile(sam)).projects).toEqual([]);
  const [asked] = (await listOwnInvitations(sam)).items;
  expect(asked).toMatchObject({
    project: { id: admin.project.id, name: admin.project.name },
    role: "editor",
    invited_by: `${admin.user.name} (${admin.user.email})`,
  });
  await acceptInvitation({ token: asked?.id ?? "" }, sam);
  expect((await getProfile(sam)).projects).toMatchObject([{ id: admin.project.id, role: "editor" }]);
  expect((await entered("sso@example.com")).id).toBe(created.id);
  expect(await signInWithPassword("sso@example.com", "", "x")).toBeNull();
  setSettings({ ALLOW_SIGNUP: "1" });
  const stranger = await entered("stranger@example.com");
  expect((await getProfile(principal({ ...admin.user, id: stranger.id }))).projects).toMatchObject([{ slug: "my-project", role: "admin" }]);
});

test("an account whose address a newer release would refuse is still shown", async () => {
  const { user, auth } = await database.newAdmin();
  const { email } = await db().user.update({ where: { id: user.id }, data: { email: "root@intranet", is_install_admin: true } });
  const old: Principal = { user: { ...user, email }, auth };
  expect(UserProfile.parse(await getProfile(old))).toMatchObject({ email });
  expect(AuthInfo.parse({ ...old.user, auth })).toMatchObject({ email });
  const people = PersonPage.parse(await listPeople(old, { page: 1, per_page: 200 }));
  expect(people.items.map((one) => one.email)).toContain(email);
});
