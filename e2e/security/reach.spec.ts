import { createServer } from "node:http";
import { expect, test } from "@playwright/test";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { startTreadle } from "#e2e/server.ts";
import { firstUser, noLimits } from "#e2e/system/install.ts";

const key = `sk-service-${"reaching".repeat(5)}`;

/** Somebody who signed up just now, by the session's own way to a first key. */
async function newcomer(url: string): Promise<ApiClient> {
  const account = { email: `${crypto.randomUUID()}@example.com`, name: "Newcomer", password: crypto.randomUUID() };
  const headers = { "content-type": "application/json", origin: url };
  await fetch(`${url}/api/v1/auth/sign-up`, { method: "POST", headers, body: JSON.stringify(account) });
  const csrf = await fetch(`${url}/api/auth/csrf`);
  const { csrfToken } = (await csrf.json()) as { csrfToken: string };
  const cookieOf = (answer: Response) => answer.headers.getSetCookie().map((cookie) => cookie.split(";")[0]);
  const signedIn = await fetch(`${url}/api/auth/callback/credentials`, {
    method: "POST",
    redirect: "manual",
    headers: { origin: url, cookie: cookieOf(csrf).join("; "), "content-type": "application/x-www-form-urlencoded" },
    body: new URLSearchParams({ csrfToken, email: account.email, password: account.password, json: "true" }),
  });
  const cookie = cookieOf(signedIn).join("; ");
  const made = await fetch(`${url}/api/v1/platform-keys`, { method: "POST", headers: { ...headers, cookie }, body: '{"name":"First"}' });
  return apiClient({ url, key: ((await made.json()) as { key: string }).key });
}

test("whoever has an account and a project of their own reaches nothing on this machine; its owner does", async () => {
  const reached: string[] = [];
  const inside = await listen(
    createServer((request, response) => {
      reached.push(request.url ?? "");
      response.setHeader("content-type", "application/json").end('{"results":[{"text":"the secret of this machine"}]}');
    }),
  );
  const treadle = await startTreadle({ env: { ...firstUser(key), ...noLimits, ALLOW_SIGNUP: "1" } });
  try {
    const [owner, stranger] = [apiClient({ url: treadle.url, key }), await newcomer(treadle.url)];
    const { port } = new URL(inside.url);
    const attempts = [inside.url, `http://localhost:${port}`, `http://[::ffff:127.0.0.1]:${port}`, `http://0x7f.1:${port}`].flatMap(
      (address, index): [string, object][] => [
        ["/rags", { name: `Source ${index}`, type: "http", config: { url: `${address}/search` } }],
        ["/llm-keys", { name: `Model ${index}`, provider: "openai_compatible", api_key: "some-key", base_url: `${address}/v1` }],
        ["/mcp", { name: `Server ${index}`, url: `${address}/mcp` }],
        ["/mcp/discover", { url: `${address}/mcp` }],
      ],
    );
    for (const [path, body] of attempts) {
      const refused = await stranger.post(path, body);
      expect([refused.status, refused.body.detail], JSON.stringify(body)).toEqual([422, expect.stringContaining("install admin")]);
    }
    expect(reached).toEqual([]);
    const source = await owner.post("/rags", { name: "Source", type: "http", config: { url: `${inside.url}/search` } }, { status: 201 });
    expect((await owner.post(`/rags/${source.body.id}/test`)).body).toMatchObject({ ok: true });
    expect(reached).toHaveLength(1);
  } finally {
    await treadle.stop();
    await inside.stop();
  }
});
