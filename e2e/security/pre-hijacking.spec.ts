import { randomUUID } from "node:crypto";
import { type APIRequestContext, request } from "@playwright/test";
import { type MailServer, startMailServer } from "#e2e/fakes/smtp.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, noLimits } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { type OpenIdIssuer, startOpenIdIssuer } from "#server/testing/openid-issuer.ts";

// A squatter creates an account for the address of another person and adds access that outlives a new password. The owner then proves
// the address.

const client = { id: "treadle", secret: "client-secret" };
const ownerKey = `sk-service-${"hijacked".repeat(5)}`;
let mailServer: MailServer;
let issuer: OpenIdIssuer;
let server: Treadle;

test.beforeAll(async () => {
  [mailServer, issuer] = await Promise.all([startMailServer(), startOpenIdIssuer(client)]);
  server = await startTreadle({
    env: {
      ...firstUser(ownerKey),
      ...noLimits,
      ALLOW_SIGNUP: "1",
      SMTP_URL: mailServer.url,
      EMAIL_FROM: "Treadle <treadle@example.com>",
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: client.id,
      OIDC_CLIENT_SECRET: client.secret,
    },
  });
});
test.afterAll(async () => {
  await server.stop();
  await Promise.all([mailServer.stop(), issuer.stop()]);
});

interface Account {
  email: string;
  password: string;
}

const newBrowser = () => request.newContext({ baseURL: server.url, extraHTTPHeaders: { origin: server.url } });
const withKey = (key: string) => request.newContext({ baseURL: server.url, extraHTTPHeaders: { authorization: `Bearer ${key}` } });

async function signedIn({ email, password }: Account): Promise<APIRequestContext> {
  const browser = await newBrowser();
  const { csrfToken } = await (await browser.get("/api/auth/csrf")).json();
  await browser.post("/api/auth/callback/credentials", { form: { csrfToken, email, password, json: "true" } });
  return browser;
}

async function send(browser: APIRequestContext, method: string, path: string, data?: object) {
  const answer = await browser.fetch(`/api/v1${path}`, { method, ...(data && { data }) });
  const text = await answer.text();
  return { status: answer.status(), body: text && JSON.parse(text) };
}
const made = async (browser: APIRequestContext, path: string, data: object) => (await send(browser, "POST", path, data)).body;

async function signUp(email = `${randomUUID()}@example.com`): Promise<{ account: Account; browser: APIRequestContext; project: string }> {
  const account = { email, password: "the squatter's password" };
  await made(await newBrowser(), "/auth/sign-up", { ...account, name: "Somebody" });
  const browser = await signedIn(account);
  const { projects } = (await send(browser, "GET", "/users/me")).body;
  return { account, browser, project: projects[0].id };
}

const pathOf = (link: string) => new URL(link).pathname.split("/").at(-1) ?? "";
const mailed = (to: string, link: RegExp): Promise<string> =>
  until(() => mailServer.mails.flatMap((mail) => (mail.to.includes(to) ? [link.exec(mail.text)?.[1] ?? ""] : [])).findLast(Boolean));

/** Access of the squatter: a session, a key, a service account's key, a second admin. */
async function squat() {
  const { account, browser, project } = await signUp();
  const accomplice = await signUp();
  const { invite_url } = await made(browser, `/projects/${project}/members`, { email: accomplice.account.email, role: "admin" });
  await made(accomplice.browser, `/invitations/${pathOf(invite_url)}/accept`, {});
  const { key } = await made(browser, "/platform-keys", { name: "mine" });
  const service = await made(browser, "/service-accounts", { name: "Backdoor", role: "editor" });
  const { key: serviceKey } = await made(browser, `/service-accounts/${service.id}/keys`, { name: "backdoor" });
  const [byKey, byService] = [await withKey(key), await withKey(serviceKey)];
  const doors = { browser, byKey, byService };
  const statuses = async (path: string) => Promise.all(Object.values(doors).map(async (door) => (await send(door, "GET", path)).status));
  expect(await statuses("/workflows")).toEqual([200, 200, 200]);
  return { account, project, accomplice: accomplice.browser, statuses };
}

const NEW_PASSWORD = "the owner's password";

/** Each way in which the owner of the address comes in. Returns the owner's browser. */
const PROOFS: Record<string, (account: Account) => Promise<APIRequestContext>> = {
  "signs in through a provider": async ({ email }) => {
    const browser = await newBrowser();
    const { csrfToken } = await (await browser.get("/api/auth/csrf")).json();
    const asked = await browser.post("/api/auth/signin/oidc", { form: { csrfToken, callbackUrl: server.url, json: "true" } });
    const answer = issuer.approve((await asked.json()).url, { sub: email, email, name: "Owner" });
    await browser.get(`/api/auth/callback/oidc?${answer}`, { maxRedirects: 0 });
    return browser;
  },
  "sets a new password by mail": async ({ email }) => {
    await send(await newBrowser(), "POST", "/auth/password-reset", { email });
    const token = await mailed(email, /reset-password\/(\S+)/);
    await send(await newBrowser(), "POST", `/auth/password-reset/${token}`, { password: NEW_PASSWORD });
    return signedIn({ email, password: NEW_PASSWORD });
  },
  "accepts a mailed invitation": async (account) => {
    const host = await withKey(ownerKey);
    const { projects } = (await send(host, "GET", "/users/me")).body;
    await made(host, `/projects/${projects[0].id}/members`, { email: account.email, role: "viewer" });
    const browser = await signedIn(account);
    await made(browser, `/invitations/${await mailed(account.email, /invite\/(\S+)/)}/accept`, {});
    return browser;
  },
};

for (const [way, prove] of Object.entries(PROOFS)) {
  test(`a squatter reads nothing after the owner ${way}`, { tag: "@main" }, async () => {
    const { account, project, accomplice, statuses } = await squat();

    const owner = await prove(account);

    const { projects } = (await send(owner, "GET", "/users/me")).body;
    const own = projects.find(({ role }: { role: string }) => role === "admin");
    expect(own.id).not.toBe(project);
    const secret = await owner.post("/api/v1/credentials", {
      headers: { "x-project-id": own.id },
      data: { name: "TOKEN", value: "owner's secret" },
    });
    expect(secret.status()).toBe(201);
    for (const status of await statuses("/credentials")) expect([401, 404]).toContain(status);
    expect((await send(accomplice, "GET", `/projects/${own.id}`)).status).toBe(404);
  });

  test(`taking over leaves a squatter nothing after the owner ${way}`, async () => {
    const { account, project, accomplice, statuses } = await squat();
    const owner = await prove(account);
    const { items } = (await send(owner, "GET", "/users/me/put-aside")).body;

    const taken = await send(owner, "POST", `/users/me/put-aside/${items[0].id}/take-over`);

    expect(taken).toMatchObject({ status: 200, body: { id: project, role: "admin" } });
    expect((await send(accomplice, "GET", `/projects/${project}`)).status).toBe(404);
    for (const status of await statuses("/workflows")) expect([401, 404]).toContain(status);
    const { items: members } = (await send(owner, "GET", `/projects/${project}/members`)).body;
    expect(members.map(({ email }: { email: string }) => email)).toEqual([account.email]);
  });
}

test("a squatter with a link that was handed over loses the membership with the proof", async () => {
  const host = await signUp();
  const email = `${randomUUID()}@example.com`;
  const { invite_url } = await made(host.browser, `/projects/${host.project}/members`, { email, role: "editor" });
  const account = { email, password: "the squatter's password" };
  await made(await newBrowser(), `/invitations/${pathOf(invite_url)}/accept`, { name: "Somebody", password: account.password });
  const squatter = await signedIn(account);
  expect((await send(squatter, "GET", `/projects/${host.project}`)).status).toBe(200);

  const owner = await (PROOFS["sets a new password by mail"] as (typeof PROOFS)[string])(account);

  expect((await send(squatter, "GET", `/projects/${host.project}`)).status).toBe(401);
  expect((await send(owner, "GET", `/projects/${host.project}`)).status).toBe(404);
  const { items } = (await send(owner, "GET", "/users/me/put-aside")).body;
  expect(items).toMatchObject([{ project: { id: host.project }, role: "editor", is_own: false, owner_email: host.account.email }]);
});
