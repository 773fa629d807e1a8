import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { deleteAccount } from "#server/features/identity/delete-account.ts";
import { declineInvitation, listOwnInvitations, openInvitation } from "#server/features/identity/invitations.ts";
import { resumeMemberships } from "#server/features/identity/new-account.ts";
import { getProfile } from "#server/features/identity/profile.ts";
import { signInWithPassword, signInWithProvider } from "#server/features/identity/sign-in.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { listPendingInvitations } from "#server/features/projects/members.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { db } from "#server/platform/db/client.ts";
import { hashPassword, sha256 } from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { identityOf } from "#server/testing/provider-identity.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Attackers: an inviter, who holds a link to the account of another person, and a squatter, who created an account for the address of
// another person. Each path through an invitation to an existing account is tried here (server/decisions/0021).

const database = testDatabase();
beforeAll(() => {
  setSettings({ APP_URL: "http://localhost:4000" });
  vi.stubEnv("AUTH_TRUST_HOST", "1");
});
afterAll(() => vi.unstubAllEnvs());

const password = "the password of the account";
const chosen = "a password that the attacker chose";
let count = 0;
const newAddress = () => `victim-${++count}@example.com`;
const tokenOf = (inviteUrl: string | undefined): string => inviteUrl?.split("/invite/")[1] ?? "";

const invite = async (admin: ProjectPrincipal, email: string): Promise<string> =>
  tokenOf((await setMember(admin, { project_id: admin.project.id, email, role: "editor" })).invite_url);

/** Returns the token of the mailed link, which differs from that of `invite`. */
async function mailedToken(admin: ProjectPrincipal, email: string): Promise<string> {
  await invite(admin, email);
  await db().invitation.updateMany({
    where: { email, project_id: admin.project.id },
    data: { mail_token_hash: sha256(`mailed to ${email}`) },
  });
  return `mailed to ${email}`;
}

interface Victim extends Principal {
  /** Signs in again; the browser that the account had from the beginning stays as it is. */
  isUnchanged(): Promise<boolean>;
}

/** An account, the only admin of its project, with a session and a key. */
async function newVictim({ isVerified }: { isVerified: boolean }): Promise<Victim> {
  const { user } = await database.newAdmin();
  const password_hash = await hashPassword(password);
  const email_verified_at = isVerified ? new Date("2026-01-01") : null;
  await db().user.update({ where: { id: user.id }, data: { password_hash, email_verified_at } });
  const browser = authBrowser();
  await browser.post("/callback/credentials", { email: user.email, password });
  const victim: Principal = { user, auth: { type: "session" } };
  const { key } = await createPlatformKey(victim, { name: "CI" });
  const state = async () => ({
    user: await db().user.findUniqueOrThrow({ where: { id: user.id }, omit: { updated_at: true } }),
    memberships: await db().membership.findMany({ where: { user_id: user.id } }),
    keys: await db().platformKey.count({ where: { user_id: user.id } }),
    session: (await principalOf(browser.cookieHeader()))?.user.id,
    byKey: (await principalOf(new Headers({ authorization: `Bearer ${key}` })))?.user.id,
  });
  const before = JSON.stringify(await state());
  return { ...victim, isUnchanged: async () => JSON.stringify(await state()) === before };
}

const codeOf = (attempt: Promise<unknown>): Promise<string> => attempt.then(() => "accepted").catch(({ code }) => code);
const projectsOf = async (who: Principal) => (await getProfile(who)).projects.map(({ id }) => id);

test.each([false, true])("no link opens an account without its session (verified: %s)", async (isVerified) => {
  const [victim, hostile] = [await newVictim({ isVerified }), await database.newAdmin()];
  const { email } = victim.user;
  const handed = await invite(hostile, email);
  const byKey: Principal = {
    user: victim.user,
    auth: { type: "platform_key", key_id: hostile.user.id, scopes: ["read", "run", "write"], project_ids: null, expires_at: null },
  };

  const attempts = [
    acceptInvitation({ token: handed }, null),
    acceptInvitation({ token: handed, name: "Mallory", password: chosen }, null),
    acceptInvitation({ token: handed, name: "Mallory", password }, null),
    acceptInvitation({ token: handed, password: chosen }, hostile),
    acceptInvitation({ token: handed }, byKey),
    acceptInvitation({ token: handed }, { ...victim, auth: { type: "assistant" } }),
    acceptInvitation({ token: handed }, { ...victim, auth: { type: "session", password_mark: "of an earlier password" } }),
  ];

  expect(await Promise.all(attempts.map(codeOf))).toEqual(attempts.map(() => "AUTH_REQUIRED"));
  expect(await codeOf(acceptInvitation({ token: await mailedToken(hostile, email), name: "Mallory", password: chosen }, null))).toBe(
    "AUTH_REQUIRED",
  );
  expect(await victim.isUnchanged()).toBe(true);
});

test("the id of an invitation opens nothing for another account", async () => {
  const [victim, hostile] = [await newVictim({ isVerified: true }), await database.newAdmin()];
  await invite(hostile, victim.user.email);
  const { id } = await db().invitation.findFirstOrThrow({ where: { email: victim.user.email } });

  expect(await codeOf(acceptInvitation({ token: id, name: "Mallory", password: chosen }, null))).toBe("NOT_FOUND");
  expect(await codeOf(acceptInvitation({ token: id }, hostile))).toBe("NOT_FOUND");
});

test("accepting while signed in adds the membership", async () => {
  const [victim, admin] = [await newVictim({ isVerified: false }), await database.newAdmin()];
  const before = await projectsOf(victim);

  await acceptInvitation({ token: await invite(admin, victim.user.email) }, victim);

  expect(await projectsOf(victim)).toEqual([...before, admin.project.id]);
  const row = await db().user.findUniqueOrThrow({ where: { id: victim.user.id } });
  expect(row.email_verified_at).toBeNull();
  expect(await signInWithPassword(victim.user.email, password, "x")).not.toBeNull();
});

test("accepting while signed in rejects a name or a password", async () => {
  const [victim, admin] = [await newVictim({ isVerified: true }), await database.newAdmin()];
  const token = await invite(admin, victim.user.email);

  for (const given of [{ password: chosen }, { name: "Mallory" }])
    await expect(acceptInvitation({ token, ...given }, victim)).rejects.toMatchObject({
      code: "VALIDATION_ERROR",
      errors: [{ path: Object.keys(given)[0] }],
    });
  expect(await victim.isUnchanged()).toBe(true);
});

test("the mailed link verifies the address of the signed-in account", async () => {
  const [victim, admin] = [await newVictim({ isVerified: false }), await database.newAdmin()];

  await acceptInvitation({ token: await mailedToken(admin, victim.user.email) }, victim);

  const row = await db().user.findUniqueOrThrow({ where: { id: victim.user.id } });
  expect(row.email_verified_at).not.toBeNull();
});

test("an invitation as viewer leaves the role of an admin who joined meanwhile", async () => {
  const [victim, admin] = [await newVictim({ isVerified: true }), await database.newAdmin()];
  const { id: project_id } = admin.project;
  const { invite_url } = await setMember(admin, { project_id, email: victim.user.email, role: "viewer" });
  await db().membership.create({ data: { project_id, user_id: victim.user.id, role: "admin" } });

  await acceptInvitation({ token: tokenOf(invite_url) }, victim);

  expect(await db().membership.findFirst({ where: { project_id, user_id: victim.user.id } })).toMatchObject({ role: "admin" });
});

test("an account created between invitation and acceptance requires its session", async () => {
  const [admin, first] = [await database.newAdmin(), await database.newAdmin()];
  const email = newAddress();
  const [token, other] = [await invite(admin, email), await invite(first, email)];
  const user = await acceptInvitation({ token: other, name: "Ada", password }, null);

  expect(await codeOf(acceptInvitation({ token, name: "Mallory", password: chosen }, null))).toBe("AUTH_REQUIRED");
  await acceptInvitation({ token }, { user, auth: { type: "session" } });

  expect(await signInWithPassword(email, password, "x")).toMatchObject({ id: user.id, name: "Ada" });
});

test("of two acceptances at once for one address, one creates the account", async () => {
  for (let round = 0; round < 5; round++) {
    const [ada, bob] = [await database.newAdmin(), await database.newAdmin()];
    const email = newAddress();
    const tokens = [await invite(ada, email), await invite(bob, email)];

    const codes = await Promise.all(tokens.map((token, n) => codeOf(acceptInvitation({ token, name: `N${n}`, password: chosen }, null))));

    expect(codes.sort()).toEqual(["AUTH_REQUIRED", "accepted"]);
    expect(await db().membership.count({ where: { user: { email } } })).toBe(1);
  }
});

test.each(["upper case", "lower case"])("finds the account in any case of the invited address (%s)", async (letters) => {
  const [victim, hostile] = [await newVictim({ isVerified: false }), await database.newAdmin()];
  const { email } = victim.user;
  const token = await invite(hostile, letters === "upper case" ? email.toUpperCase() : email);

  expect(await codeOf(acceptInvitation({ token, name: "Mallory", password: chosen }, null))).toBe("AUTH_REQUIRED");
  expect(await victim.isUnchanged()).toBe(true);
});

test("a deleted account cannot accept with the session that it had", async () => {
  const [victim, admin] = [await newVictim({ isVerified: true }), await database.newAdmin()];
  const token = await invite(admin, victim.user.email);
  await deleteAccount(victim, { password, delete_projects: true });

  expect(await codeOf(acceptInvitation({ token }, victim))).toBe("VALIDATION_ERROR");
  const successor = await acceptInvitation({ token, name: "Successor", password: chosen }, null);

  expect(successor.id).not.toBe(victim.user.id);
  expect(await db().membership.count({ where: { user_id: victim.user.id } })).toBe(0);
});

test("a deletion during the acceptance leaves no membership behind", async () => {
  for (let round = 0; round < 5; round++) {
    const [victim, admin] = [await newVictim({ isVerified: true }), await database.newAdmin()];
    const token = await invite(admin, victim.user.email);

    await Promise.allSettled([deleteAccount(victim, { password, delete_projects: true }), acceptInvitation({ token }, victim)]);

    const deleted = await db().user.findFirst({ where: { id: victim.user.id, deleted_at: { not: null } } });
    expect((await db().membership.count({ where: { user_id: victim.user.id } })) === 0).toBe(deleted !== null);
  }
});

test("a provider's first proof ends the account's password, sessions, keys", async () => {
  const victim = await newVictim({ isVerified: false });

  const proven = await signInWithProvider(identityOf(victim.user.email));

  expect(proven).toMatchObject({ id: victim.user.id, password_hash: null, email_verified_at: expect.any(Date) });
  expect(await signInWithPassword(victim.user.email, password, "x")).toBeNull();
  expect(await db().platformKey.count({ where: { user_id: victim.user.id } })).toBe(0);
});

test("a squatter is not asked in the app to join for an unverified address", async () => {
  const [squatter, admin] = [await newVictim({ isVerified: false }), await database.newAdmin()];
  await invite(admin, squatter.user.email);

  expect((await listOwnInvitations(squatter)).items).toEqual([]);
});

test("a verified account may decline in the app, which ends the link", async () => {
  const [victim, admin] = [await newVictim({ isVerified: true }), await database.newAdmin()];
  const token = await invite(admin, victim.user.email);
  const [asked] = (await listOwnInvitations(victim)).items;
  expect(asked).toMatchObject({ project: { id: admin.project.id }, role: "editor", was_member: false });

  await expect(declineInvitation(admin, { invitation_id: asked?.id ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await declineInvitation(victim, { invitation_id: asked?.id ?? "" });

  expect(await codeOf(acceptInvitation({ token }, victim))).toBe("NOT_FOUND");
});

test("inviting answers the same for an address with an account as for one without", async () => {
  const [verified, unverified, admin] = [
    await newVictim({ isVerified: true }),
    await newVictim({ isVerified: false }),
    await database.newAdmin(),
  ];
  const { id: project_id } = admin.project;
  const emails = [newAddress(), verified.user.email, unverified.user.email];

  const answers = await Promise.all(emails.map((email) => setMember(admin, { project_id, email, role: "viewer" })));
  const { items } = await listPendingInvitations(admin, { project_id, page: 1, per_page: 50 });

  const shape = (answer: object) => JSON.stringify(Object.entries(answer).map(([key, value]) => [key, typeof value]));
  expect(new Set(answers.map(shape)).size).toBe(1);
  expect(Object.keys(answers[0] ?? {})).toEqual(["email", "role", "status", "invite_url"]);
  expect(items).toHaveLength(3);
  expect(new Set(items.map(shape)).size).toBe(1);
});

test("the page of the link tells who must sign in", async () => {
  const [victim, other, admin] = [
    await newVictim({ isVerified: false }),
    await newVictim({ isVerified: false }),
    await database.newAdmin(),
  ];
  const token = await invite(admin, victim.user.email);
  const seenBy = async (who: Principal | null) => {
    const { account, signed_in_as } = await openInvitation({ token }, who);
    return [account, signed_in_as];
  };

  expect(await seenBy(null)).toEqual(["signed_out", null]);
  expect(await seenBy(other)).toEqual(["signed_out", other.user.email]);
  expect(await seenBy(victim)).toEqual(["signed_in", victim.user.email]);
  expect((await openInvitation({ token: await invite(admin, newAddress()) }, null)).account).toBe("none");
});

test("memberships that an earlier release put aside open with the password they had", async () => {
  const [victim, team] = [await newVictim({ isVerified: false }), await database.newAdmin()];
  const held_password_hash = await hashPassword("the password from before");
  await db().invitation.create({
    data: {
      project_id: team.project.id,
      email: victim.user.email,
      role: "editor",
      token_hash: sha256(victim.user.id),
      held_password_hash,
      expires_at: new Date("9999-12-31T00:00:00Z"),
    },
  });
  expect(await listOwnInvitations(victim)).toEqual({ items: [], has_earlier: true, put_aside: 0 });

  await expect(resumeMemberships(victim, { password })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(await resumeMemberships(victim, { password: "the password from before" })).toEqual({ projects: [team.project.name] });

  expect(await projectsOf(victim)).toContain(team.project.id);
});
