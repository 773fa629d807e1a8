import { afterAll, beforeAll, expect, test, vi } from "vitest";
import { authOptions } from "#server/features/identity/auth-options.ts";
import { signInWithPassword } from "#server/features/identity/sign-in.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { tidySessions } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { hashPassword } from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { type OpenIdIssuer, startOpenIdIssuer } from "#server/testing/openid-issuer.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const client = { id: "treadle", secret: "client-secret" };
const database = testDatabase();
let issuer: OpenIdIssuer;

beforeAll(async () => {
  issuer = await startOpenIdIssuer(client);
  setSettings({ AUTH_SECRET: "auth secret of at least 32 characters", APP_URL: "http://localhost:4000" });
  vi.stubEnv("AUTH_TRUST_HOST", "1");
  setSettings({ OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret });
});
afterAll(async () => {
  vi.unstubAllEnvs();
  setSettings({ OIDC_ISSUER: "", OIDC_CLIENT_ID: "", OIDC_CLIENT_SECRET: "" });
  await issuer.stop();
});

async function withPassword(password: string) {
  const { user } = await database.newAdmin();
  await db().user.update({ where: { id: user.id }, data: { password_hash: await hashPassword(password) } });
  return user;
}

test("address and password open a session, and signing out ends it", async () => {
  const { id, email } = await withPassword("correct horse");
  const browser = authBrowser();
  expect(await browser.post("/callback/credentials", { email: ` ${email.toUpperCase()} `, password: "correct horse" })).toMatchObject({
    status: 200,
  });
  expect(await principalOf(browser.cookieHeader())).toMatchObject({ user: { id }, auth: { type: "session" } });
  expect((await browser.get("/session")).data).toMatchObject({ user: { email } });
  await browser.post("/signout");
  expect(await principalOf(browser.cookieHeader())).toBeNull();
});

test("signing out ends every copy of the session's cookie, one that was prolonged too, and no other session", async () => {
  const { email } = await withPassword("correct horse");
  const [browser, other] = [authBrowser(), authBrowser()];
  for (const one of [browser, other]) await one.post("/callback/credentials", { email, password: "correct horse" });
  const stolen = [browser.cookieHeader()];
  await browser.get("/session");
  stolen.push(browser.cookieHeader());
  expect(stolen[0]?.get("cookie")).not.toBe(stolen[1]?.get("cookie"));
  await browser.post("/signout");
  for (const copy of stolen) expect(await principalOf(copy)).toBeNull();
  const thief = authBrowser({ cookie: stolen[1]?.get("cookie") ?? "" });
  expect((await thief.get("/session")).data).toEqual({});
  expect(await principalOf(other.cookieHeader())).not.toBeNull();
  // A cookie may be good for a little longer than its row says, and without one it would open again.
  const expire = (ms: number) =>
    db().session.updateMany({ where: { ended_at: { not: null } }, data: { expires_at: new Date(Date.now() - ms) } });
  await expire(60_000);
  await tidySessions();
  for (const copy of stolen) expect(await principalOf(copy)).toBeNull();
  await expire(2 * 60 * 60_000);
  await tidySessions();
  expect(await db().session.count({ where: { ended_at: { not: null } } })).toBe(0);
});

test("after signing in and out the way leads to a page of this site", async () => {
  for (const callbackUrl of ["/\t/evil.example", "//evil.example", "/\\evil.example", "https://evil.example", "javascript:alert(1)"]) {
    const { url } = await authBrowser().post("/signout", { callbackUrl });
    expect(new URL(url).host).toBe("localhost:4000");
  }
  expect((await authBrowser().post("/signout", { callbackUrl: "/runs?page=2" })).url).toMatch(/:\/\/localhost:4000\/runs\?page=2$/);
});

test("a wrong password, none at all, and a missing token against forgery open nothing", async () => {
  const { email } = await withPassword("correct horse");
  const browser = authBrowser();
  const wrong = await browser.post("/callback/credentials", { email, password: "correct house" });
  expect([wrong.status, new URL(wrong.url).searchParams.get("error")]).toEqual([401, "CredentialsSignin"]);
  expect((await browser.post("/callback/credentials", { email })).status).toBe(401);
  await browser.post("/callback/credentials", { email, password: "correct horse", csrfToken: "forged" });
  expect(await principalOf(browser.cookieHeader())).toBeNull();
});

test("a password that was right when it was looked at opens no session of an account that has another by then", async () => {
  const { id, email } = await withPassword("correct horse");
  const opened = await signInWithPassword(email, "correct horse", "x");
  if (!opened) throw new Error("not signed in");
  const openSession = async () => authOptions(new Headers()).callbacks?.jwt?.({ token: {}, user: opened, account: null });
  expect(await openSession()).toMatchObject({ sub: id });
  await db().user.update({ where: { id }, data: { password_hash: null } });
  await expect(openSession()).rejects.toThrow("The session has ended.");
});

test("too many tries are told in a sentence", async () => {
  const { email } = await withPassword("correct horse");
  const browser = authBrowser();
  for (let n = 0; n < 10; n++) await browser.post("/callback/credentials", { email, password: "wrong" });
  const { status, url } = await browser.post("/callback/credentials", { email, password: "correct horse" });
  expect([status, new URL(url).searchParams.get("error")]).toEqual([401, "Too many tries. Wait 15 minutes and try again."]);
});

test("the session of somebody who is gone, or whose password changed, ends by itself", async () => {
  const user = await withPassword("correct horse");
  const browser = authBrowser();
  await browser.post("/callback/credentials", { email: user.email, password: "correct horse" });
  await db().user.update({ where: { id: user.id }, data: { password_hash: await hashPassword("another") } });
  expect((await browser.get("/session")).data).toEqual({});
  expect(browser.cookieHeader().get("cookie")).not.toContain("session-token");
});

/** Signs in through the issuer, which says this of the person. */
async function through(claims: Record<string, unknown>) {
  const browser = authBrowser();
  const { url } = await browser.post("/signin/oidc");
  const back = await browser.get(`/callback/oidc?${issuer.approve(url, { sub: "person", ...claims })}`);
  return { back, principal: await principalOf(browser.cookieHeader()) };
}

test("an issuer that is set up is offered, others are not", async () => {
  expect(Object.keys((await authBrowser().get("/providers")).data)).toEqual(["credentials", "oidc"]);
});

test("whom the issuer vouches for gets in when invited, and again later", async () => {
  const admin = await database.newAdmin();
  await setMember(admin, { project_id: admin.project.id, email: "sso@example.com", role: "editor" });
  const first = await through({ email: "SSO@example.com", name: "Sam" });
  expect(first.principal).toMatchObject({ user: { email: "sso@example.com", name: "Sam" }, auth: { type: "session" } });
  expect((await through({ email: "sso@example.com", name: "Sam" })).principal?.user.id).toBe(first.principal?.user.id);
});

test("the owner of an address comes in by the issuer, and whoever made the account for it before is out", async () => {
  const { id, email } = await withPassword("the squatter's password");
  const squatter = authBrowser();
  const signIn = () => squatter.post("/callback/credentials", { email, password: "the squatter's password" });
  await signIn();
  expect(await principalOf(squatter.cookieHeader())).not.toBeNull();
  expect((await through({ email, name: "Owner" })).principal?.user.id).toBe(id);
  expect(await principalOf(squatter.cookieHeader())).toBeNull();
  expect((await signIn()).status).toBe(401);
});

test("a stranger, an address that is not verified, and none at all do not get in", async () => {
  const { user } = await database.newAdmin();
  for (const claims of [
    { email: "stranger@example.com" },
    { email: user.email, email_verified: false },
    { email: user.email, email_verified: "false" },
    {},
  ]) {
    const { back, principal } = await through(claims);
    expect(principal).toBeNull();
    expect(new URL(back.url, "http://localhost").searchParams.get("error")).toBe("AccessDenied");
  }
});

test("an answer that was not asked for here does not sign in", async () => {
  const admin = await database.newAdmin();
  const { url } = await authBrowser().post("/signin/oidc");
  const other = authBrowser();
  await other.get(`/callback/oidc?${issuer.approve(url, { sub: "person", email: admin.user.email })}`);
  expect(await principalOf(other.cookieHeader())).toBeNull();
});
