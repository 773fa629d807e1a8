import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { connect } from "node:net";
import { text } from "node:stream/consumers";
import { type ApiClient, apiClient } from "#e2e/api-client.ts";
import { listen } from "#e2e/fakes/listen.ts";
import { expect, test } from "#e2e/fixtures.ts";
import { startTreadle, type Treadle } from "#e2e/server.ts";
import { firstUser, noRateLimit } from "#e2e/system/install.ts";
import { newId } from "#server/platform/new-id.ts";

const key = `sk-service-${"knocking".repeat(5)}`;
const MIB = 1024 * 1024;

let server: Treadle;
test.beforeAll(async () => {
  server = await startTreadle({ env: { ...firstUser(key), ...noRateLimit, EXECUTIONS_PER_HOUR: "1", ALLOW_SIGNUP: "1" } });
});
test.afterAll(() => server.stop());

/** Writes a whole request and only then reads the answer. */
async function sendAll(path: string, bytes: number, isChunked: boolean): Promise<string> {
  const socket = connect(server.port, "127.0.0.1");
  socket.on("error", () => undefined);
  const written = (part: Uint8Array | string) => new Promise<void>((resolve) => socket.write(part, () => resolve()));
  const length = isChunked ? "Transfer-Encoding: chunked" : `Content-Length: ${bytes}`;
  const type = path.startsWith("/api/auth") ? "application/x-www-form-urlencoded" : "application/json";
  const authorization = path.startsWith("/api/v1") ? `Authorization: Bearer ${key}\r\n` : "";
  await written(`POST ${path} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n${authorization}Content-Type: ${type}\r\n${length}\r\n\r\n`);
  const piece = Buffer.alloc(MIB, " ");
  for (let sent = 0; sent < bytes; sent += MIB)
    await written(isChunked ? Buffer.concat([Buffer.from("100000\r\n"), piece, Buffer.from("\r\n")]) : piece);
  if (isChunked) await written("0\r\n\r\n");
  return text(socket);
}

/** The most memory that the server has held, in MiB. */
const peak = (): number => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${server.pid}/status`, "utf8"))?.[1]) / 1024;

test("no door takes a large body in: who writes all of it before reading gets a 413, and memory stays as it is", async () => {
  const doors = [
    "/api/v1/workflows",
    "/api/v1/webhooks/x",
    "/api/trpc/projects.create",
    "/api/auth/callback/credentials",
    "/api/auth/_log",
    "/sign-in",
  ];
  for (const path of doors) await sendAll(path, MIB, false); // what the first call loads is not what a body takes
  const before = peak();
  for (const path of doors)
    for (const isChunked of [false, true]) {
      const answer = await sendAll(path, 50 * MIB, isChunked);
      // A door that answers without reading says what it has to say of the request itself.
      const wanted = isChunked && /_log|webhooks|sign-in/.test(path) ? /^HTTP\/1\.1 (4\d\d|200|405) / : /^HTTP\/1\.1 413 /;
      expect(answer, `${path} ${isChunked ? "chunked" : "told"}`).toMatch(wanted);
    }
  if (process.platform === "linux") expect(peak() - before).toBeLessThan(150); // of 600 MB that were sent
  expect((await fetch(`${server.url}/api/health`)).status).toBe(200);
});

test("the log takes nothing from strangers", async () => {
  const body = JSON.stringify({ level: "error", code: "WRITTEN_BY_A_STRANGER", message: "x".repeat(10_000) });
  const answer = await fetch(`${server.url}/api/auth/_log`, { method: "POST", body, headers: { "content-type": "application/json" } });
  expect(answer.status).toBe(404);
  expect(server.logs()).not.toContain("WRITTEN_BY_A_STRANGER");
});

test("an id that is not there is 404, however long it is and whatever it is made of", { tag: "@main" }, async () => {
  const { paths } = (await (await fetch(`${server.url}/api/v1/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { parameters?: { in: string; required?: boolean }[] }>>;
  };
  const ids = [
    "x".repeat(10_000),
    "%00",
    `${"0".repeat(36)}%00`,
    "%F0%9F%92%A9",
    "..%2F..%2Fauth",
    "%27%20OR%20%271%27=%271",
    "%252e%252e", // without the first escape a client itself would take it out of the path
    "a%0d%0ab",
  ];
  let asked = 0;
  for (const [path, operations] of Object.entries(paths)) {
    if (!path.includes("{") || /^\/(webhooks|invitations)\//.test(path)) continue;
    for (const [method, operation] of Object.entries(operations).filter(([name]) => /^(get|post|put|delete|patch)$/.test(name))) {
      // A body, or a query that is needed, may be looked at before the id: its fault is told then.
      const isReadFirst = method === "post" || method === "put" || operation.parameters?.some((one) => one.in === "query" && one.required);
      const seen = await Promise.all(
        ids.map(async (id) => {
          // The last that is no number; two of that length are more than a request may begin with.
          const last = path.match(/\{\w+\}/g)?.findLast((name) => name !== "{version}") ?? "";
          const filled = path
            .replace("{version}", "1")
            .replace(last, id)
            .replace(/\{\w+\}/g, newId());
          const url = `${server.url}/api/v1${filled}`;
          const body = method === "get" || method === "delete" ? {} : { body: "{}", headers: { "content-type": "application/json" } };
          const answer = await fetch(url, {
            method: method.toUpperCase(),
            ...body,
            headers: { ...body.headers, authorization: `Bearer ${key}` },
          });
          const { error_code } = (await answer.json()) as { error_code: string };
          return `${answer.status} ${error_code}`;
        }),
      );
      for (const [at, outcome] of seen.entries())
        expect(["404 NOT_FOUND", ...(isReadFirst ? ["422 VALIDATION_ERROR"] : [])], `${method} ${path} ${ids[at]?.slice(0, 40)}`).toContain(
          outcome,
        );
      asked++;
    }
  }
  expect(asked).toBeGreaterThan(30);
});

test("what is refused because the hour is used up tells the figures of the hour, once", async () => {
  const api = apiClient({ url: server.url, key });
  const nodes = [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } }];
  const { body: flow } = await api.post("/workflows", { name: "Busy", nodes, edges: [] }, { status: 201 });
  await api.post(`/workflows/${flow.id}/execute`, {}, { status: 202 });
  const { headers } = await api.post(`/workflows/${flow.id}/execute`, {}, { status: 429 });
  expect([headers.get("x-ratelimit-limit"), headers.get("x-ratelimit-remaining")]).toEqual(["1", "0"]);
  const reset = Number(headers.get("x-ratelimit-reset")) - Date.now() / 1000;
  expect(Math.abs(reset - Number(headers.get("retry-after")))).toBeLessThan(5);
  expect(reset).toBeGreaterThan(3000);
});

test("the web app's door takes JSON, and few calls at once", async () => {
  const post = (path: string, type: string) =>
    fetch(`${server.url}/api/trpc/${path}`, { method: "POST", body: "{}", headers: { "content-type": type } });
  expect((await post("projects.create", "text/plain")).status).toBe(415);
  const many = Array.from({ length: 21 }, () => "identity.status").join(",");
  expect((await fetch(`${server.url}/api/trpc/${many}?batch=1&input=%7B%7D`)).status).toBe(400);
});

/** Somebody who signed up just now, by the session's own way to a first key. */
async function newcomer(): Promise<ApiClient> {
  const { url } = server;
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
  try {
    const [owner, stranger] = [apiClient({ url: server.url, key }), await newcomer()];
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
    await inside.stop();
  }
});
