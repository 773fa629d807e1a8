import { afterAll, beforeAll, expect, test } from "vitest";
import { principalOf } from "#server/auth/principal-of.ts";
import { db } from "#server/db/client.ts";
import { hashPassword } from "#server/secrets.ts";
import { setMember } from "#server/services/projects/set-member.ts";
import { publishSettings } from "#server/settings.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { type OpenIdIssuer, startOpenIdIssuer } from "#server/testing/openid-issuer.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const client = { id: "treadle", secret: "client-secret" };
const database = testDatabase();
let issuer: OpenIdIssuer;

beforeAll(async () => {
  issuer = await startOpenIdIssuer(client);
  publishSettings({ AUTH_SECRET: "auth secret of at least 32 characters", APP_URL: "http://localhost:4000", AUTH_TRUST_HOST: "1" });
  publishSettings({ OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret });
});
afterAll(async () => {
  publishSettings({ AUTH_TRUST_HOST: "", OIDC_ISSUER: "", OIDC_CLIENT_ID: "", OIDC_CLIENT_SECRET: "" });
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

test("a wrong password, none at all, and a missing token against forgery open nothing", async () => {
  const { email } = await withPassword("correct horse");
  const browser = authBrowser();
  const wrong = await browser.post("/callback/credentials", { email, password: "correct house" });
  expect([wrong.status, new URL(wrong.url).searchParams.get("error")]).toEqual([401, "CredentialsSignin"]);
  expect((await browser.post("/callback/credentials", { email })).status).toBe(401);
  await browser.post("/callback/credentials", { email, password: "correct horse", csrfToken: "forged" });
  expect(await principalOf(browser.cookieHeader())).toBeNull();
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

test("a stranger, an address that is not verified, and none at all do not get in", async () => {
  const { user } = await database.newAdmin();
  for (const claims of [{ email: "stranger@example.com" }, { email: user.email, email_verified: false }, {}]) {
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
