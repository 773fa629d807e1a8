import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import { authOptions, serviceAnswerPage } from "#server/features/identity/auth-options.ts";
import { signInWithPassword } from "#server/features/identity/sign-in.ts";
import { setMember } from "#server/features/projects/set-member.ts";
import { principalOf } from "#server/platform/auth/principal-of.ts";
import { tidySessions } from "#server/platform/auth/session.ts";
import { db } from "#server/platform/db/client.ts";
import { hashPassword } from "#server/platform/secrets.ts";
import { setSettings } from "#server/platform/settings.ts";
import { authBrowser } from "#server/testing/auth-browser.ts";
import { type OpenIdIssuer, startOpenIdIssuer } from "#server/testing/openid-issuer.ts";
import { serveProxy } from "#server/testing/proxy-server.ts";
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
async function through(claims: Record<string, unknown>, browser = authBrowser()) {
  const { url } = await browser.post("/signin/oidc");
  const back = await browser.get(`/callback/oidc?${issuer.approve(url, { sub: "person", ...claims })}`);
  return { back, problem: problemOf(back.url), principal: await principalOf(browser.cookieHeader()) };
}

/** The code of a problem in the address that an answer leads to. */
const problemOf = (url: string): string | null => new URL(url, "http://localhost").searchParams.get("error");

test("an issuer that is set up is offered, others are not", async () => {
  expect(Object.keys((await authBrowser().get("/providers")).data)).toEqual(["credentials", "oidc"]);
});

test("whom the issuer vouches for gets in when invited, and again later", async () => {
  const admin = await database.newAdmin();
  await setMember(admin, { project_id: admin.project.id, email: "sso@example.com", role: "editor" });
  const first = await through({ sub: "sam", email: "SSO@example.com", name: "Sam" });
  expect(first.principal).toMatchObject({ user: { email: "sso@example.com", name: "Sam" }, auth: { type: "session" } });
  expect((await through({ sub: "sam", email: "sso@example.com", name: "Sam" })).principal?.user.id).toBe(first.principal?.user.id);
});

test("calls the issuer through the proxy", async () => {
  const proxy = await serveProxy({ credentials: "ada:p@ss" });
  setSettings({ OUTGOING_PROXY: `http://ada:p%40ss@127.0.0.1:${proxy.port}` });
  onTestFinished(() => setSettings({ OUTGOING_PROXY: "" }));
  const admin = await database.newAdmin();
  await setMember(admin, { project_id: admin.project.id, email: "proxied@example.com", role: "editor" });

  const { principal } = await through({ sub: "proxied", email: "proxied@example.com", name: "Pat" });

  expect(principal).toMatchObject({ user: { email: "proxied@example.com" } });
  expect(new Set(proxy.requests.map(({ method, target }) => `${method} ${target}`))).toEqual(
    new Set([`CONNECT ${new URL(issuer.url).host}`]),
  );
});

test("the owner of an address comes in by the issuer, and whoever made the account for it before is out", async () => {
  const { id, email } = await withPassword("the squatter's password");
  const squatter = authBrowser();
  const signIn = () => squatter.post("/callback/credentials", { email, password: "the squatter's password" });
  await signIn();
  expect(await principalOf(squatter.cookieHeader())).not.toBeNull();
  expect((await through({ sub: "owner", email, name: "Owner" })).principal?.user.id).toBe(id);
  expect(await principalOf(squatter.cookieHeader())).toBeNull();
  expect((await signIn()).status).toBe(401);
});

test("a stranger does not get in, and the sign-in page says so", async () => {
  expect(await through({ sub: "stranger", email: "stranger@example.com" })).toMatchObject({ principal: null, problem: "AccessDenied" });
});

test.each([
  [undefined, "in"],
  [true, "in"],
  ["true", "in"],
  ["True", "in"],
  [false, "NotVerified"],
  ["false", "NotVerified"],
  [null, "NotVerified"],
  ["", "NotVerified"],
  [1, "NotVerified"],
  ["yes", "NotVerified"],
  [["true"], "NotVerified"],
])("email_verified %j of the own issuer: %s", async (email_verified, outcome) => {
  const email = await verified();
  const { principal, problem } = await through({ sub: email, email, ...(email_verified !== undefined && { email_verified }) });
  expect(principal ? "in" : problem).toBe(outcome);
});

test.each([
  ["line breaks", "mallory@example.com\r\nBcc: all@example.com"],
  ["spaces", "mal lory@example.com"],
  ["markup", "<b>mallory</b>@example.com"],
  ["5,000 letters", `${"m".repeat(5000)}@example.com`],
  ["letters beyond ASCII", "jörg@example.com"],
  ["a name without a dot as host", "root@intranet"],
  ["no text", 5],
  ["a list", ["mallory@example.com"]],
])("an address with %s is refused before an account is made", async (_, email) => {
  await database.newAdmin();
  setSettings({ ALLOW_SIGNUP: "1" });
  const count = await db().user.count();

  const { principal, problem } = await through({ sub: "mallory", email });

  setSettings({ ALLOW_SIGNUP: "0" });
  expect([principal, problem]).toEqual([null, "UnusableAddress"]);
  expect(await db().user.count()).toBe(count);
});

test("the sign-in page reports an identity without an address", async () => {
  expect(await through({ sub: "nameless" })).toMatchObject({ principal: null, problem: "NoAddress" });
});

/** An address that was invited, so that a sign-in through the issuer makes an account for it. */
async function invited(): Promise<string> {
  const admin = await database.newAdmin();
  const email = `${admin.user.id}@invited.example.com`;
  await setMember(admin, { project_id: admin.project.id, email, role: "editor" });
  return email;
}

/** The verified address of an account that was never entered through the issuer. */
async function verified(): Promise<string> {
  const { id, email } = (await database.newAdmin()).user;
  await db().user.update({ where: { id }, data: { email_verified_at: new Date() } });
  return email;
}

test.each([
  ["14,000 letters", "n".repeat(14_000), "n".repeat(120)],
  ["a character at the limit that is not cut in two", `${"n".repeat(119)}😀`, "n".repeat(119)],
  ["line breaks and a NUL", "Mal\r\nlory\0", "Mal lory"],
  ["spaces alone", "   ", null],
  ["no text", { first: "Mal" }, null],
])("a name of %s passes the schema of names", async (_, name, kept) => {
  const email = await invited();
  const { principal } = await through({ sub: email, email, name });
  expect(principal?.user.name).toBe(kept ?? email);
});

test("an identity opens its account whatever address it has by now", async () => {
  const email = await invited();
  const first = await through({ sub: email, email });
  const later = await through({ sub: email, email: "moved@example.com", email_verified: false });
  expect(later.principal?.user).toEqual(first.principal?.user);
});

test("another identity of the same issuer with the same address does not get in", async () => {
  const email = await invited();
  await through({ sub: email, email });
  expect(await through({ sub: `${email}-2`, email })).toMatchObject({ principal: null, problem: "OtherIdentity" });
});

test("an identity without a subject is refused", async () => {
  for (const sub of [undefined, null, "", "s".repeat(256), "line\nbreak", { a: 1 }]) {
    const { email } = (await database.newAdmin()).user;
    const { principal, problem } = await through({ sub, email });
    expect(principal).toBeNull();
    expect(["ServiceFailed", "OAuthCallback"]).toContain(problem);
  }
});

async function withSecondFactor() {
  const user = await withPassword("correct horse");
  await db().user.update({ where: { id: user.id }, data: { email_verified_at: new Date() } });
  await db().secondFactor.create({ data: { user_id: user.id, sealed_secret: "sealed", confirmed_at: new Date() } });
  return user;
}

test("an identity that is new passes no second factor", async () => {
  const { email } = await withSecondFactor();
  expect(await through({ sub: email, email })).toMatchObject({ principal: null, problem: "AccountAsksForCode" });
});

test("a session of the account connects an identity, which replaces an earlier one", async () => {
  const { id, email } = await withPassword("correct horse");
  await db().user.update({ where: { id }, data: { email_verified_at: new Date() } });
  await through({ sub: `${email}-1`, email });
  const browser = authBrowser();
  await browser.post("/callback/credentials", { email, password: "correct horse" });
  await db().secondFactor.create({ data: { user_id: id, sealed_secret: "sealed", confirmed_at: new Date() } });

  expect((await through({ sub: `${email}-2`, email }, browser)).principal?.user.id).toBe(id);

  expect((await through({ sub: `${email}-2`, email })).principal?.user.id).toBe(id);
  expect((await through({ sub: `${email}-1`, email })).problem).toBe("OtherIdentity");
});

test.each([
  ["new", invited],
  ["existing", verified],
])("eight first sign-ins at once open one %s account without an error", async (_, newAddress) => {
  const email = await newAddress();
  const entered = await Promise.all(Array.from({ length: 8 }, () => through({ sub: email, email })));
  expect(entered.map(({ problem }) => problem)).toEqual(Array.from({ length: 8 }, () => null));
  expect(new Set(entered.map(({ principal }) => principal?.user.id)).size).toBe(1);
  expect(await db().signInIdentity.count({ where: { subject: email } })).toBe(1);
});

test("an error of the database never reaches the address bar", async () => {
  const email = await invited();
  const transaction = vi.spyOn(db(), "$transaction").mockRejectedValue(new Error('relation "users" at db.internal'));
  const { back, problem } = await through({ sub: email, email });
  transaction.mockRestore();
  expect([problem, back.url]).toEqual(["Unfinished", "/sign-in?error=Unfinished"]);
});

test("a state is used once, also by a copy of the cookies", async () => {
  const email = await invited();
  const browser = authBrowser();
  const { url } = await browser.post("/signin/oidc");
  const copy = authBrowser({}, browser.cookies());
  const [first, second] = [issuer.approve(url, { sub: email, email }), issuer.approve(url, { sub: email, email })];

  await browser.get(`/callback/oidc?${first}`);
  const { url: page } = await copy.get(`/callback/oidc?${second}`);

  expect(await principalOf(browser.cookieHeader())).not.toBeNull();
  expect(new URL(page).searchParams.get("error")).toBe("OAuthCallback");
  expect(await principalOf(copy.cookieHeader())).toBeNull();
});

test("the address to come back to is that of the install, not of the request", async () => {
  const { url } = await authBrowser({ host: "evil.example", "x-forwarded-host": "evil.example" }).post("/signin/oidc");
  expect(new URL(url).searchParams.get("redirect_uri")).toBe("http://localhost:4000/api/auth/callback/oidc");
});

test.each([
  ["access_denied", "Cancelled"],
  ["login_required", "Cancelled"],
  ["server_error", "ServiceFailed"],
  ["Call 555-0100 now", "ServiceFailed"],
])("the sign-in page reports the answer %s of a service", (error, problem) => {
  const query = new URLSearchParams({ error, error_description: "Call 555-0100 now" });
  expect(serviceAnswerPage(["callback", "oidc"], query)).toBe(`/sign-in?error=${problem}`);
});

test("cookies of a session and of a sign-in are bound to the host over HTTPS", () => {
  const { cookies } = authOptions(new Headers());
  setSettings({ APP_URL: "https://flows.example.com" });
  const { cookies: secure } = authOptions(new Headers());
  setSettings({ APP_URL: "http://localhost:4000" });
  expect(Object.values(secure ?? {}).map(({ name, options }) => [name.startsWith("__Host-"), options.secure, options.path])).toEqual(
    Array.from({ length: 4 }, () => [true, true, "/"]),
  );
  expect(Object.values(cookies ?? {}).some(({ name }) => name.startsWith("__"))).toBe(false);
});

test("an answer that was not asked for here does not sign in", async () => {
  const admin = await database.newAdmin();
  const { url } = await authBrowser().post("/signin/oidc");
  const other = authBrowser();
  await other.get(`/callback/oidc?${issuer.approve(url, { sub: "person", email: admin.user.email })}`);
  expect(await principalOf(other.cookieHeader())).toBeNull();
});
