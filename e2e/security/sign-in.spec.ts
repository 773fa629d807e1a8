import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "#e2e/fixtures.ts";
import { startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, noRateLimit } from "#e2e/system/install.ts";
import { type OpenIdIssuer, startOpenIdIssuer } from "#server/testing/openid-issuer.ts";

const client = { id: "treadle", secret: "client-secret" };
const key = `sk-service-${"entering".repeat(5)}`;
let issuer: OpenIdIssuer;
let server: Treadle;

test.beforeAll(async () => {
  issuer = await startOpenIdIssuer(client);
  const oidc = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: client.id, OIDC_CLIENT_SECRET: client.secret };
  server = await startTreadle({ env: { ...firstUser(key), ...noRateLimit, ...oidc, ALLOW_SIGNUP: "1" } });
});
test.afterAll(async () => {
  await server.stop();
  await issuer.stop();
});

/** A browser that keeps cookies and follows no redirect. */
function visitor(kept: ReadonlyMap<string, string> = new Map()) {
  const cookies = new Map(kept);
  async function ask(path: string, init: RequestInit = {}): Promise<Response> {
    const cookie = [...cookies].map((pair) => pair.join("=")).join("; ");
    const answer = await fetch(`${server.url}${path}`, { redirect: "manual", ...init, headers: { ...init.headers, cookie } });
    for (const set of answer.headers.getSetCookie()) {
      const [name = "", value = ""] = set.split(";")[0]?.split(/=(.*)/s) ?? [];
      cookies.set(name, value);
    }
    return answer;
  }
  return {
    cookies,
    ask,
    /** Begins a sign-in at the issuer. @returns the address that the browser is sent to */
    async begin(headers: Record<string, string> = {}): Promise<string> {
      const { csrfToken } = (await (await ask("/api/auth/csrf")).json()) as { csrfToken: string };
      const body = new URLSearchParams({ csrfToken, json: "true" });
      const { url } = (await (await ask("/api/auth/signin/oidc", { method: "POST", body, headers })).json()) as { url: string };
      return url;
    },
    async end(query: URLSearchParams): Promise<string> {
      return (await ask(`/api/auth/callback/oidc?${query}`)).headers.get("location") ?? "";
    },
    async isIn(): Promise<boolean> {
      return (await ask("/api/v1/auth/me")).status === 200;
    },
  };
}

async function entering(claims: Record<string, unknown>) {
  const browser = visitor();
  const location = await browser.end(issuer.approve(await browser.begin(), claims));
  return { browser, location, isIn: await browser.isIn() };
}

test("without APP_URL a start with a sign-in service warns", () => {
  expect(server.logs()).toContain(
    `APP_URL is not set, so Single sign-on will send people back to http://localhost:${server.port} after sign-in.`,
  );
});

test("the address that a service sends people back to does not come from the request", async () => {
  const forged = { "x-forwarded-host": "evil.example", "x-forwarded-proto": "https", forwarded: "host=evil.example" };
  const asked = new URL(await visitor().begin(forged)).searchParams.get("redirect_uri");
  expect(asked).toBe(`http://localhost:${server.port}/api/auth/callback/oidc`);
});

test("an address or name that the schema refuses creates no account", async () => {
  const addresses = ["m@example.com\r\nBcc: all@example.com", "m m@example.com", "<i>m</i>@example.com", `${"m".repeat(5000)}@example.com`];
  for (const [at, email] of addresses.entries())
    expect(await entering({ sub: `hostile-${at}`, email })).toMatchObject({ location: "/sign-in?error=UnusableAddress", isIn: false });

  const { browser, isIn } = await entering({ sub: "long", email: "long@example.com", name: "n".repeat(14_000) });

  expect(isIn).toBe(true);
  const { name } = (await (await browser.ask("/api/v1/users/me")).json()) as { name: string };
  expect(name).toBe("n".repeat(120));
  const people = await fetch(`${server.url}/api/v1/install/people`, { headers: { authorization: `Bearer ${key}` } });
  expect(people.status).toBe(200);
  expect(await people.text()).not.toContain("<i>");
});

test("another subject of the issuer does not open the account of an address", async () => {
  expect((await entering({ sub: "first", email: "mine@example.com" })).isIn).toBe(true);
  expect(await entering({ sub: "second", email: "mine@example.com" })).toMatchObject({
    location: "/sign-in?error=OtherIdentity",
    isIn: false,
  });
  expect((await entering({ sub: "first", email: "renamed@example.com", email_verified: "no" })).isIn).toBe(true);
});

test("eight first sign-ins at once give one account and no error", async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => entering({ sub: "eight", email: "eight@example.com" })));
  expect(all.map(({ isIn }) => isIn)).toEqual(Array.from({ length: 8 }, () => true));
  const ids = await Promise.all(
    all.map(async ({ browser }) => ((await (await browser.ask("/api/v1/auth/me")).json()) as { id: string }).id),
  );
  expect(new Set(ids).size).toBe(1);
});

test("a copy of the cookies of a sign-in opens no second session", async () => {
  const browser = visitor();
  const url = await browser.begin();
  const thief = visitor(browser.cookies);
  const [first, second] = [1, 2].map(() => issuer.approve(url, { sub: "copied", email: "copied@example.com" }));
  await browser.end(first ?? new URLSearchParams());
  const location = await thief.end(second ?? new URLSearchParams());
  expect(new URL(location, server.url).searchParams.get("error")).toBe("OAuthCallback");
  expect([await browser.isIn(), await thief.isIn()]).toEqual([true, false]);
});

test("no answer about signing in is stored by a cache", async () => {
  for (const path of ["providers", "csrf", "session"])
    expect((await visitor().ask(`/api/auth/${path}`)).headers.get("cache-control")).toBe("no-store");
});

test("the sign-in page shows its own sentence for an error of a service", async ({ browser }) => {
  const page = await browser.newPage();
  const words = new URLSearchParams({ error: "access_denied", error_description: "Call 555-0100" });
  await page.goto(`${server.url}/api/auth/callback/oidc?${words}`);
  await expect(page.getByRole("alert").filter({ hasText: "The sign-in was cancelled" })).toBeVisible();
  await page.goto(`${server.url}/sign-in?error=Call%20555-0100`);
  await expect(page.getByRole("alert").filter({ hasText: "Signing in did not succeed" })).toBeVisible();
  await expect(page.getByRole("main")).not.toContainText("555-0100", { useInnerText: true });
  await page.close();
});

test("sign-in over HTTP says that the address of the install is HTTPS", async ({ browser }) => {
  const secure = await startTreadle({ env: { ...firstUser(key), APP_URL: "https://flows.example.com" } });
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${secure.port}/sign-in`);
  await expect(page.getByRole("alert").filter({ hasText: "Sign-in does not work at this address" })).toContainText(
    "https://flows.example.com",
  );
  await page.close();
  await secure.stop();
});

/** Writes the lines of a request as they are. @returns the head of the answer */
async function headOf(...lines: string[]): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.write([...lines, "Connection: close", "", ""].join("\r\n"));
  return (await text(socket)).split("\r\n\r\n")[0] ?? "";
}

test("a request that names another host or two hosts is refused", async () => {
  const own = `Host: localhost:${server.port}`;
  for (const path of ["/sign-in/", "/api/v1/workflows/", "/api/auth/signin/oidc"]) {
    expect(await headOf(`GET ${path} HTTP/1.1`, own, "Host: evil.example")).toMatch(/^HTTP\/1\.1 400 /);
    const misdirected = await headOf(`GET http://evil.example${path} HTTP/1.1`, own);
    expect(misdirected).toMatch(/^HTTP\/1\.1 421 /);
    expect(misdirected.toLowerCase()).not.toContain("location:");
  }
});
