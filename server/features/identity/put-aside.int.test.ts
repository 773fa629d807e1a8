import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { until } from "#e2e/until.ts";
import { createCanvas } from "#server/features/canvases/service.ts";
import { readSharedCanvas, shareCanvas } from "#server/features/canvases/share.ts";
import { startSending } from "#server/features/emails/send.ts";
import { acceptInvitation } from "#server/features/identity/accept-invitation.ts";
import { deleteAccount } from "#server/features/identity/delete-account.ts";
import { listOwnInvitations } from "#server/features/identity/invitations.ts";
import { leavePutAside, listPutAside, takeOver } from "#server/features/identity/put-aside.ts";
import { signInWithPassword, signInWithProvider } from "#server/features/identity/sign-in.ts";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { listMembers, listPendingInvitations, withdrawInvitation } from "#server/features/projects/members.ts";
import { createProject } from "#server/features/projects/service.ts";
import { resendInvitation, setMember } from "#server/features/projects/set-member.ts";
import { requestPasswordReset, resetPassword } from "#server/features/security/password-reset.ts";
import { beginSecondFactor, confirmSecondFactor } from "#server/features/security/second-factor.ts";
import { createServiceAccount, createServiceKey } from "#server/features/service-accounts/service.ts";
import { handleRest } from "#server/http/rest/rest.ts";
import type { Principal, ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { projectOf } from "#server/platform/auth/project-of.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { addMember } from "#server/testing/add-member.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { codeNow } from "#server/testing/authenticator.ts";
import { newAccount } from "#server/testing/new-account.ts";
import { identityOf } from "#server/testing/provider-identity.ts";
import { newPausedRun } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// The attacker is a squatter: an account for the address of another person, with all that gives access later. The owner of the address
// then proves it in each way there is (server/decisions/0021).

const database = testDatabase();
const page = { page: 1, per_page: 50 };
let mails: MailServer;
let stopSending: Awaited<ReturnType<typeof startSending>>;
let host: ProjectPrincipal;

beforeAll(async () => {
  mails = await startMailServer();
  setSettings({ APP_URL: "http://localhost:4000", SMTP_URL: mails.url, EMAIL_FROM: "Treadle <treadle@example.com>" });
  host = await database.newAdmin();
  stopSending = await startSending();
});
afterAll(async () => {
  await stopSending(1000);
  await mails.stop();
});

const mailed = async (to: string, link: RegExp): Promise<string> =>
  until(() => mails.mails.flatMap((mail) => (mail.to.includes(to) ? [link.exec(mail.text)?.[1] ?? ""] : [])).findLast(Boolean));

interface Squatter extends ProjectPrincipal {
  password: string;
  browser: ReturnType<typeof authBrowser>;
  /** An account of the attacker's own, which is the second admin. */
  accomplice: ProjectPrincipal;
  /** Access that the squatter created, by kind: each tells whether it still opens something. */
  opens(): Promise<Record<string, boolean>>;
}

const isLetIn = (headers: Headers): Promise<boolean> =>
  principalOf(headers).then(
    (principal) =>
      principal
        ? projectOf(principal, headers).then(
            () => true,
            () => false,
          )
        : false,
    () => false,
  );

async function newSquatter(): Promise<Squatter> {
  const { password, ...account } = await newAccount();
  const user = await db().user.findUniqueOrThrow({ where: { id: account.id }, select: { id: true, email: true, name: true } });
  const browser = authBrowser();
  await browser.post("/callback/credentials", { email: user.email, password });
  const squatter: ProjectPrincipal = { user, auth: { type: "session" }, project: account.project, role: "admin" };

  const accomplice = await database.newAdmin();
  await addMember(squatter, accomplice.user, "admin");
  const service = await createServiceAccount(squatter, { name: "Backdoor", role: "editor" });
  const { key: serviceKey } = await createServiceKey(squatter, { account_id: service.id, name: "backdoor" });
  const canvas = await createCanvas(squatter, { name: "Wall" });
  const token = (await shareCanvas(squatter, { canvas_id: canvas.id, expires_in_days: 90 })).url.split("/shared/")[1] ?? "";
  const { secret } = await beginSecondFactor(squatter, { password });
  await confirmSecondFactor(squatter, { code: codeNow(secret) });

  const bearer = (key: string) => new Headers({ authorization: `Bearer ${key}` });
  const opens = async () => ({
    session: (await principalOf(browser.cookieHeader())) !== null,
    api_key: await isLetIn(bearer(account.key)),
    service_key: await isLetIn(bearer(serviceKey)),
    share_link: await readSharedCanvas({ token }).then(
      () => true,
      () => false,
    ),
    second_factor: (await db().secondFactor.count({ where: { user_id: user.id } })) > 0,
  });
  return { ...squatter, password, browser, accomplice, opens };
}
const NOTHING = { session: false, api_key: false, service_key: false, share_link: false, second_factor: false };

/** Each way in which the owner of the address proves it. Returns the owner, signed in. */
const PROOFS: Record<string, (squatter: Squatter) => Promise<Principal>> = {
  "a sign-in provider": async ({ user }) => {
    await signInWithProvider(identityOf(user.email));
    return { user, auth: { type: "session" } };
  },
  "a mailed reset": async ({ user }) => {
    await requestPasswordReset({ email: user.email }, randomUUID());
    await resetPassword({ token: await mailed(user.email, /reset-password\/(\S+)/), password: "the owner's password" });
    return { user, auth: { type: "session" } };
  },
  "a mailed invitation": async ({ user }) => {
    await setMember(host, { project_id: host.project.id, email: user.email, role: "viewer" });
    await acceptInvitation({ token: await mailed(user.email, /invite\/(\S+)/) }, { user, auth: { type: "session" } });
    return { user, auth: { type: "session" } };
  },
};
const proof = PROOFS["a sign-in provider"] as (squatter: Squatter) => Promise<Principal>;

const namesOf = async (who: Principal): Promise<string[]> =>
  (await db().membership.findMany({ where: { user_id: who.user.id }, select: { project: true } })).map(({ project }) => project.id).sort();

const first = async (who: Principal) => {
  const [item] = (await listPutAside(who, page)).items;
  if (!item) throw new Error("nothing is put aside");
  return { ...item, put_aside_id: item.id };
};

test.each(Object.keys(PROOFS))("%s ends the access that a squatter created", async (way) => {
  const squatter = await newSquatter();
  expect(Object.values(await squatter.opens())).toEqual([true, true, true, true, true]);

  await PROOFS[way]?.(squatter);

  expect(await squatter.opens()).toEqual(NOTHING);
});

test.each(Object.keys(PROOFS))("%s leads the owner to a new first project", async (way) => {
  const squatter = await newSquatter();

  const owner = await PROOFS[way]?.(squatter);

  const projects = await namesOf(owner as Principal);
  expect(projects).not.toContain(squatter.project.id);
  const own = await db().project.findMany({ where: { owner_id: squatter.user.id, id: { in: projects } } });
  expect(own.map(({ name }) => name)).toEqual(["My project"]);
});

test("a mailed reset removes a second factor from before the proof", async () => {
  const squatter = await newSquatter();

  await PROOFS["a mailed reset"]?.(squatter);

  expect(await signInWithPassword(squatter.user.email, "the owner's password", randomUUID())).toMatchObject({ id: squatter.user.id });
});

test("a mailed invitation keeps the session that accepted it", async () => {
  const squatter = await newSquatter();
  const { user } = squatter;
  const [mine, other] = [authBrowser(), squatter.browser];
  await db().secondFactor.deleteMany({ where: { user_id: user.id } });
  await mine.post("/callback/credentials", { email: user.email, password: squatter.password });
  const session = await principalOf(mine.cookieHeader());
  await setMember(host, { project_id: host.project.id, email: user.email, role: "viewer" });

  await acceptInvitation({ token: await mailed(user.email, /invite\/(\S+)/) }, session);

  expect(await principalOf(mine.cookieHeader())).not.toBeNull();
  expect(await principalOf(other.cookieHeader())).toBeNull();
});

test("a second proof puts nothing aside", async () => {
  const squatter = await newSquatter();
  const owner = await proof(squatter);
  const projects = await namesOf(owner);
  const { key } = await createPlatformKey(owner, { name: "mine" });

  for (const way of ["a sign-in provider", "a mailed invitation"]) await PROOFS[way]?.(squatter);

  expect(await namesOf(owner)).toEqual(expect.arrayContaining(projects));
  expect(await principalOf(new Headers({ authorization: `Bearer ${key}` }))).not.toBeNull();
});

test("eight proofs at once put each project aside once and create one first project", async () => {
  const squatter = await newSquatter();

  await Promise.all(Array.from({ length: 8 }, () => signInWithProvider(identityOf(squatter.user.email))));

  expect((await listPutAside(squatter, page)).total).toBe(1);
  expect(await db().project.count({ where: { owner_id: squatter.user.id } })).toBe(2);
});

test("a squatter's many projects do not keep the owner out", async () => {
  const squatter = await newSquatter();
  setSettings({ PROJECTS_PER_USER: "2" });
  await createProject(squatter, { name: "Second" });

  const owner = await proof(squatter);
  setSettings({ PROJECTS_PER_USER: "50" });

  expect(await namesOf(owner)).toHaveLength(1);
});

test("the list tells what was put aside and what ended", async () => {
  const squatter = await newSquatter();
  const owner = await proof(squatter);

  const { items, total, ended } = await listPutAside(owner, page);

  expect(total).toBe(1);
  expect(items).toMatchObject([{ project: { id: squatter.project.id }, role: "admin", is_own: true, members: 1 }]);
  expect(ended).toEqual({ sessions: 1, api_keys: 1, second_factor: true, service_accounts: 1, share_links: 1 });
  expect((await listOwnInvitations(owner)).put_aside).toBe(1);
});

test("taking over an own project removes everyone else and what they created", async () => {
  const squatter = await newSquatter();
  const { accomplice } = squatter;
  const inProject = { ...accomplice, project: squatter.project };
  const owner = await proof(squatter);
  const service = await createServiceAccount(inProject, { name: "Later", role: "editor" });
  const { key } = await createServiceKey(inProject, { account_id: service.id, name: "later" });
  const { id: canvas_id } = await createCanvas(inProject, { name: "Later" });
  const { url } = await shareCanvas(inProject, { canvas_id, expires_in_days: 90 });
  const { invite_url } = await setMember(inProject, { project_id: squatter.project.id, email: "second@example.com", role: "admin" });
  const run = await newPausedRun(inProject);

  const { role } = await takeOver(owner, await first(owner));

  expect(role).toBe("admin");
  expect((await listMembers(owner, { project_id: squatter.project.id, ...page })).items.map(({ user_id }) => user_id)).toEqual([
    owner.user.id,
  ]);
  expect(await isLetIn(new Headers({ authorization: `Bearer ${key}` }))).toBe(false);
  await expect(readSharedCanvas({ token: url.split("/shared/")[1] ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(
    acceptInvitation({ token: invite_url?.split("/invite/")[1] ?? "", name: "Second", password: "long enough" }, null),
  ).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await db().execution.findMany({ where: { id: run, status: { not: "cancelled" } } })).toEqual([]);
  expect(await db().workflow.count({ where: { project_id: squatter.project.id, enabled: true } })).toBe(0);
  expect((await listPutAside(owner, page)).total).toBe(0);
});

test("taking over a membership in another owner's project removes nobody", async () => {
  const [squatter, team, colleague] = [await newSquatter(), await database.newAdmin(), await database.newAdmin()];
  await addMember(team, squatter.user, "admin");
  await addMember(team, colleague.user, "viewer");
  const service = await createServiceAccount(team, { name: "Theirs", role: "viewer" });
  const { key } = await createServiceKey(team, { account_id: service.id, name: "theirs" });
  const owner = await proof(squatter);
  const item = (await listPutAside(owner, page)).items.find(({ project }) => project.id === team.project.id);

  expect(item).toMatchObject({ role: "admin", is_own: false, owner_email: team.user.email, members: 2 });
  await takeOver(owner, { put_aside_id: item?.id ?? "" });

  expect((await listMembers(owner, { project_id: team.project.id, ...page })).total).toBe(3);
  expect(await isLetIn(new Headers({ authorization: `Bearer ${key}` }))).toBe(true);
});

test("in another owner's project the proof ends only what the squatter created", async () => {
  const [squatter, team] = [await newSquatter(), await database.newAdmin()];
  await addMember(team, squatter.user, "admin");
  const inTeam: ProjectPrincipal = { ...squatter, project: team.project };
  const [theirs, its] = [await createCanvas(team, { name: "Theirs" }), await createCanvas(team, { name: "Its" })];
  const kept = await shareCanvas(team, { canvas_id: theirs.id, expires_in_days: 9 });
  const ended = await shareCanvas(inTeam, { canvas_id: its.id, expires_in_days: 9 });
  const service = await createServiceAccount(inTeam, { name: "Backdoor", role: "editor" });
  await setMember(inTeam, { project_id: team.project.id, email: "third@example.com", role: "admin" });

  await proof(squatter);

  const tokenOf = ({ url }: { url: string }) => ({ token: url.split("/shared/")[1] ?? "" });
  expect(await readSharedCanvas(tokenOf(kept))).toMatchObject({ name: "Theirs" });
  await expect(readSharedCanvas(tokenOf(ended))).rejects.toMatchObject({ code: "NOT_FOUND" });
  expect(await db().user.findUnique({ where: { id: service.id } })).toMatchObject({ deleted_at: expect.any(Date) });
  expect(await db().invitation.count({ where: { email: "third@example.com", project_id: team.project.id } })).toBe(0);
});

test("leaving a project without other members deletes it", async () => {
  const squatter = await newSquatter();
  await db().membership.deleteMany({ where: { project_id: squatter.project.id, user_id: squatter.accomplice.user.id } });
  const owner = await proof(squatter);

  await leavePutAside(owner, await first(owner));

  expect(await db().project.count({ where: { id: squatter.project.id, deleted_at: null } })).toBe(0);
  expect((await listPutAside(owner, page)).total).toBe(0);
});

test("leaving a project that others are in leaves them an admin", async () => {
  const squatter = await newSquatter();
  const { id: project_id } = squatter.project;
  await db().membership.updateMany({ where: { project_id, user_id: squatter.accomplice.user.id }, data: { role: "viewer" } });
  const owner = await proof(squatter);

  await leavePutAside(owner, await first(owner));

  expect(await db().membership.findMany({ where: { project_id }, select: { user_id: true, role: true } })).toEqual([
    { user_id: squatter.accomplice.user.id, role: "admin" },
  ]);
  expect(await db().project.findUnique({ where: { id: project_id } })).toMatchObject({ owner_id: squatter.accomplice.user.id });
});

test("what is put aside opens for its own account only, and once", async () => {
  const [squatter, other] = [await newSquatter(), await newSquatter()];
  const owner = await proof(squatter);
  await proof(other);
  const item = await first(owner);

  for (const decide of [takeOver, leavePutAside])
    for (const who of [other, squatter.accomplice]) await expect(decide(who, item)).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(acceptInvitation({ token: item.put_aside_id }, owner)).rejects.toMatchObject({ code: "NOT_FOUND" });
  const answers = await Promise.allSettled([takeOver(owner, item), leavePutAside(owner, item), takeOver(owner, item)]);

  expect(answers.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
});

test("an admin of another project can withdraw a membership that is put aside", async () => {
  const [squatter, team] = [await newSquatter(), await database.newAdmin()];
  await addMember(team, squatter.user, "editor");
  const owner = await proof(squatter);
  const { id: project_id } = team.project;
  const [pending] = (await listPendingInvitations(team, { project_id, ...page })).items;
  expect(pending).toMatchObject({ email: squatter.user.email, role: "editor", was_member: true });

  await withdrawInvitation(team, { project_id, invitation_id: pending?.id ?? "" });

  expect((await listPutAside(owner, page)).items.map(({ project }) => project.id)).toEqual([squatter.project.id]);
  await expect(resendInvitation(team, { project_id, invitation_id: pending?.id ?? "" })).rejects.toMatchObject({ code: "NOT_FOUND" });
});

test("a proven account with nothing from before gets no further project", async () => {
  const { user } = await database.newAdmin();
  await db().membership.deleteMany({ where: { user_id: user.id } });

  await signInWithProvider(identityOf(user.email));

  expect(await db().membership.count({ where: { user_id: user.id } })).toBe(0);
  expect(await listPutAside({ user, auth: { type: "session" } }, page)).toMatchObject({ total: 0 });
});

test("an account deletes what is put aside with itself", async () => {
  const squatter = await newSquatter();
  await db().membership.deleteMany({ where: { project_id: squatter.project.id, user_id: squatter.accomplice.user.id } });
  const owner = await proof(squatter);

  await deleteAccount(owner, { confirm_email: owner.user.email, delete_projects: true });

  expect(await db().project.count({ where: { id: squatter.project.id, deleted_at: null } })).toBe(0);
  expect(await db().invitation.count({ where: { email: owner.user.email } })).toBe(0);
});

test("memberships that an earlier release put aside wait for the decision too", async () => {
  const [squatter, team] = [await newSquatter(), await database.newAdmin()];
  const held = { held_password_hash: "a hash", expires_at: new Date("9999-12-31T00:00:00Z"), token_hash: randomUUID() };
  await db().invitation.create({ data: { ...held, project_id: team.project.id, email: squatter.user.email, role: "editor" } });

  const owner = await proof(squatter);

  expect((await listOwnInvitations(owner)).items).toEqual([]);
  expect((await listPutAside(owner, page)).items.map(({ project }) => project.id)).toContain(team.project.id);
});

test("an API key lists, leaves and takes over by REST", async () => {
  const squatter = await newSquatter();
  const owner = await proof(squatter);
  const { key } = await createPlatformKey(owner, { name: "mine" });
  const call = async (method: string, path: string) => {
    const answer = await handleRest(
      new Request(`http://localhost:4000/api/v1/users/me/put-aside${path}`, { method, headers: { authorization: `Bearer ${key}` } }),
    );
    return { status: answer.status, body: answer.status === 204 ? null : await answer.json() };
  };
  const { body } = await call("GET", "");

  expect(await call("POST", `/${body.items[0].id}/take-over`)).toMatchObject({ status: 200, body: { id: squatter.project.id } });
  expect(await call("DELETE", `/${body.items[0].id}`)).toMatchObject({ status: 404, body: { error_code: "NOT_FOUND" } });
});
