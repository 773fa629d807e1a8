import { randomUUID } from "node:crypto";
import { request } from "node:http";
import { signIn, stranger, tokenOf } from "#e2e/api/people.ts";
import { expect, newPerson, test } from "#e2e/fixtures.ts";
import { startTreadle } from "#e2e/server.ts";
import { until } from "#e2e/until.ts";

interface Asked {
  port: number;
  path: string;
  headers?: Record<string, string>;
  body?: object;
}

/** Unlike fetch it sends any Host and Origin. */
const ask = ({ port, path, headers = {}, body }: Asked): Promise<{ status: number; location: string; text: string }> =>
  new Promise((resolve, reject) => {
    const sent = request(
      {
        host: "127.0.0.1",
        port,
        path,
        method: body ? "POST" : "GET",
        headers: { "content-type": "application/json", ...headers },
        agent: false,
      },
      async (response) => {
        let text = "";
        for await (const part of response.setEncoding("utf8")) text += part;
        resolve({ status: response.statusCode ?? 0, location: response.headers.location ?? "", text });
      },
    );
    sent.once("error", reject).end(body && JSON.stringify(body));
  });

test("nobody on the network is first: an install gets its owner from the machine, or with the code that its start has printed", {
  tag: "@main",
}, async ({ page }) => {
  const server = await startTreadle({ env: { ALLOW_SIGNUP: "1" } });
  const { port, url } = server;
  const account = { email: "mallory@example.com", name: "Mallory", password: "a good password" };
  const setUp = (headers: Record<string, string>, code?: string) =>
    ask({ port, path: "/api/trpc/identity.setUp", headers, body: { ...account, ...(code !== undefined && { code }) } });
  const outside = [
    { host: `10.0.0.5:${port}` },
    { host: `evil.example:${port}` },
    { "x-forwarded-for": "127.0.0.1" },
    { "x-treadle-on-machine": "1", "x-forwarded-for": "203.0.113.9" },
    { origin: "http://evil.example" },
    { origin: "null" },
  ];
  for (const headers of outside) expect([headers, (await setUp(headers as Record<string, string>)).status]).toEqual([headers, 403]);
  expect((await setUp({ host: `10.0.0.5:${port}` }, "a guess")).status).toBe(403);
  expect((await ask({ port, path: "/api/v1/auth/sign-up", body: account })).status).toBe(403);
  const form = await ask({ port, path: "/setup", headers: { host: `10.0.0.5:${port}` } });
  expect(form.text).toContain("This install has no owner yet");
  expect(form.text).not.toContain("Create account");

  const printed = await until(() => /owner's account at (\S+\/setup\?code=\S+)$/m.exec(server.logs())?.[1]);
  const code = new URL(printed).searchParams.get("code") ?? "";
  expect(printed).toBe(`${url}/setup?code=${code}`);
  const owner = { ...account, email: "owner@example.com", code };
  const made = await ask({ port, path: "/api/trpc/identity.setUp", headers: { host: `10.0.0.5:${port}` }, body: owner });
  expect(made.status).toBe(200);
  expect((await setUp({ host: `10.0.0.5:${port}` }, code)).status).toBe(409);
  await page.goto(printed);
  await expect(page).toHaveURL(/\/sign-in$/);
  await server.stop();
});

test("an invitation opens no existing account without signing in to it", async ({ baseURL }) => {
  const [victim, hostile] = [await newPerson(baseURL), await newPerson(baseURL)];
  const invited = { email: victim.email.toUpperCase(), role: "editor" };
  const { body: known } = await hostile.api.post(`/projects/${hostile.project.id}/members`, invited, { status: 201 });
  const unknown = { email: `${randomUUID()}@example.com`, role: "editor" };
  const { body: other } = await hostile.api.post(`/projects/${hostile.project.id}/members`, unknown, { status: 201 });
  expect(Object.keys(known)).toEqual(Object.keys(other));
  const path = `/api/v1/invitations/${tokenOf(known.invite_url)}/accept`;

  const answers = [];
  for (const browser of [await stranger(), hostile.browser])
    for (const data of [{}, { name: "Mallory", password: "a hostile password" }, { name: "Mallory", password: victim.password }])
      answers.push(await browser.post(path, { data }));

  for (const answer of answers) expect([answer.status(), (await answer.json()).error_code]).toEqual([401, "AUTH_REQUIRED"]);
  expect((await victim.browser.get("/api/v1/auth/me")).status()).toBe(200);
  expect((await victim.api.get("/users/me")).body.projects).toMatchObject([{ id: victim.project.id, role: "admin" }]);
  expect((await signIn({ email: victim.email, password: victim.password })).status).toBe(200);
  expect((await victim.browser.post(path, { data: {} })).status()).toBe(201);
});

test("a way on after signing in that leads elsewhere leads home", async ({ baseURL, person }) => {
  const { port } = new URL(baseURL);
  const { cookies } = await person.browser.storageState();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const locationOf = async (next: string) =>
    (await ask({ port: Number(port), path: `/sign-in?next=${next}`, headers: { cookie, host: `localhost:${port}` } })).location;
  for (const next of ["%2F%09%2Fevil.example", "%2F%0A%2Fevil.example", "%2F%5Cevil.example", "%2F%2Fevil.example", "javascript:alert(1)"])
    expect([next, await locationOf(next)]).toEqual([next, "/"]);
  expect(await locationOf("%2Fruns%3Fpage%3D2")).toBe("/runs?page=2");
});

test("a copy of a cookie is dead once its session was signed out, and a stream that it opened ends", async ({
  person,
  workflow,
  execute,
}) => {
  const position = { x: 0, y: 0 };
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start", kind: "manual" } },
    { id: "r", type: "humanLoopNode", position, data: { label: "Check", title: "Check", timeout_hours: 1 } },
  ];
  const id = await execute(await workflow({ nodes, edges: [{ id: "e", source: "t", target: "r" }] }));
  const { browser, email, password } = person;
  const { browser: thief } = await signIn({ email, password });
  const { cookies } = await thief.storageState();
  const cookie = cookies.map(({ name, value }) => `${name}=${value}`).join("; ");
  const open = () => fetch(`${process.env.BASE_URL}/api/v1/executions/${id}/stream`, { headers: { cookie } });
  const stream = await open();
  expect(stream.status).toBe(200);
  const { csrfToken } = await (await thief.get("/api/auth/csrf")).json();
  await thief.post("/api/auth/signout", { form: { csrfToken, json: "true" } });
  expect((await open()).status).toBe(401);
  // Asked every 15 seconds; the run itself goes on waiting.
  expect(await stream.text()).not.toContain("execution_completed");
  expect((await browser.get("/api/v1/auth/me")).status()).toBe(200);
});
