import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { expect, test } from "@playwright/test";
import { Client } from "pg";
import { apiClient } from "#e2e/api-client.ts";
import {
  databaseUrl,
  type Ended,
  isAlive,
  newDataDir,
  postgresOf,
  preparedDataDir,
  startAndEnd,
  startTreadle,
  type Treadle,
} from "#e2e/server.ts";
import { firstUser } from "#e2e/system/install.ts";
import { until } from "#e2e/until.ts";
import { AuthInfo, UserProfile } from "#server/features/identity/schema.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import { startOpenIdIssuer } from "#server/testing/openid-issuer.ts";

const SECRETS = { AUTH_SECRET: "a".repeat(32), ENCRYPTION_KEY: "e".repeat(32) };
/** Nothing listens on this port of the loopback interface. */
const NOWHERE = "postgres://nobody:hunter2@127.0.0.1:1/none";

/** The start ended with exit code 1 and one sentence on standard error, without a stack. */
function expectRefusal({ code, stdout, stderr }: Ended, sentence: RegExp) {
  expect(stderr).toMatch(sentence);
  expect(stderr.trimEnd().split("\n"), stderr).toHaveLength(1);
  expect(code).toBe(1);
  expect(stdout).toBe("");
}

test("a port in use", async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, resolve));
  const { port } = other.address() as AddressInfo;
  const dataDir = preparedDataDir();
  expectRefusal(await startAndEnd({ port, dataDir }), new RegExp(`Port ${port} is taken .* set PORT`));
  expect(postgresOf(dataDir)).toBeUndefined();
  other.close();
});

test("a data folder that cannot be made", async () => {
  // Root may write anywhere, but nobody makes a folder beneath a file.
  const file = join(newDataDir(), "file");
  writeFileSync(file, "");
  expectRefusal(await startAndEnd({ dataDir: join(file, "data") }), /data folder .*file\/data cannot be written to .*DATA_DIR/);
});

test("a database that cannot be reached; its password is not told", async () => {
  const ended = await startAndEnd({ env: { DATABASE_URL: NOWHERE, ...SECRETS } });
  expectRefusal(ended, /database at 127\.0\.0\.1:1 cannot be reached .*DATABASE_URL/);
  expect(ended.stderr).not.toContain("hunter2");
});

test("DATABASE_URL without the secrets that belong to it", async () => {
  expectRefusal(await startAndEnd({ env: { DATABASE_URL: NOWHERE } }), /AUTH_SECRET and ENCRYPTION_KEY must be set/);
  expectRefusal(await startAndEnd({ env: { DATABASE_URL: NOWHERE, AUTH_SECRET: SECRETS.AUTH_SECRET } }), /, ENCRYPTION_KEY must be set/);
});

test("an Inngest server without its keys, which would refuse every run", async () => {
  const env = { INNGEST_BASE_URL: "http://127.0.0.1:1", INNGEST_EVENT_KEY: "e1" };
  expectRefusal(await startAndEnd({ env, dataDir: newDataDir() }), /INNGEST_SIGNING_KEY must be set .*INNGEST_DEV=1/);
});

test("refuses the address of another kind of database without showing its password", async () => {
  const ended = await startAndEnd({ env: { DATABASE_URL: "mysql://root:hunter2@127.0.0.1/app" }, dataDir: newDataDir() });
  expectRefusal(ended, /DATABASE_URL must be the address of a PostgreSQL.* begins with mysql:/);
  expect(ended.stderr).not.toContain("hunter2");
});

test("refuses a proxy of another kind without showing its password", async () => {
  const ended = await startAndEnd({ env: { OUTGOING_PROXY: "socks5://ada:hunter2@proxy:1080" }, dataDir: newDataDir() });
  expectRefusal(ended, /OUTGOING_PROXY must be env, or the address of an HTTP proxy.* begins with socks5:/);
  expect(ended.stderr).not.toContain("hunter2");
});

test("writes nothing when secrets.json is lost beside a database", async () => {
  const dataDir = preparedDataDir();
  rmSync(join(dataDir, "secrets.json"));
  expectRefusal(await startAndEnd({ dataDir }), /^secrets\.json is missing in .*: restore it from a backup/);
  expect(readdirSync(dataDir)).not.toContain("secrets.json");
});

test("refuses a start with another ENCRYPTION_KEY", async () => {
  const dataDir = preparedDataDir();
  const first = await startTreadle({ dataDir, env: { ENCRYPTION_KEY: "a".repeat(32) } });
  await first.stop();
  expectRefusal(await startAndEnd({ dataDir, env: { ENCRYPTION_KEY: "b".repeat(32) } }), /^ENCRYPTION_KEY is not the key/);
});

test("SIGTERM to the process of npm start ends all that it has started", async () => {
  const [dataDir, port] = [preparedDataDir(), await freePort()];
  const { PATH = "", HOME = "", TMPDIR = "" } = process.env;
  const env = { PATH, HOME, ...(TMPDIR && { TMPDIR }), PORT: String(port), DATA_DIR: dataDir, LOG_LEVEL: "warn" };
  const npm = spawn("npm", ["start"], {
    cwd: join(import.meta.dirname, "../.."),
    env: env as unknown as NodeJS.ProcessEnv,
    stdio: "ignore",
  });
  const ended = once(npm, "exit");
  await until(async () => (await fetch(`http://localhost:${port}/api/health`).catch(() => undefined))?.ok, 120_000);

  npm.kill("SIGTERM");

  await ended;
  await until(() => !existsSync(join(dataDir, "treadle.pid")));
  await expect(fetch(`http://localhost:${port}/api/health`)).rejects.toThrow();
  expect(postgresOf(dataDir)).toBeUndefined();
});

test("a second Ctrl-C ends the process at once", async () => {
  const server = await startTreadle();
  // A request whose body never comes whole holds up the way down.
  const held = connect(server.port, "127.0.0.1");
  held.on("error", () => undefined);
  held.write("POST /api/v1/projects HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n{");
  await until(async () => (await fetch(`${server.url}/api/health`)).ok);

  // Several at once count as one: npm passes on what the terminal has sent to both.
  await until(() => {
    if (isAlive(server.pid)) process.kill(server.pid, "SIGINT");
    return !isAlive(server.pid);
  });

  expect(await server.stop()).toBe(130);
  expect(postgresOf(server.dataDir)).toBeUndefined();
});

test("a setting that is not usable is named", async () => {
  expectRefusal(await startAndEnd({ env: { RATE_LIMIT_BURST: "many" }, dataDir: newDataDir() }), /RATE_LIMIT_BURST/);
  expectRefusal(await startAndEnd({ env: { BOOTSTRAP_EMAIL: "ada@example.com" }, dataDir: newDataDir() }), /BOOTSTRAP_PASSWORD/);
});

/** Does something while the database in a data folder is in the middle of its first migrations, which wait for it. */
async function amidMigrations(dataDir: string, act: () => void): Promise<void> {
  const client = await until(async () => {
    const asked = new Client({ connectionString: databaseUrl(dataDir) });
    asked.on("error", () => undefined);
    await asked.connect();
    const { rows } = await asked.query("SELECT FROM _prisma_migrations LIMIT 1").catch(() => ({ rows: [] }));
    if (rows.length > 0) return asked;
    await asked.end();
    return undefined;
  }, 120_000);
  // Each migration notes there that it has begun and that it is done.
  await client.query("BEGIN; LOCK TABLE _prisma_migrations IN SHARE MODE");
  act();
  await client.query("COMMIT");
  await client.end();
}

for (const [how, send] of [
  ["SIGTERM", (pid: number) => process.kill(pid, "SIGTERM")],
  ["Ctrl-C, which reaches all that the start has begun", (pid: number) => process.kill(-pid, "SIGINT")],
] as const)
  test(`during the first migrations, ${how}, ends the start behind them, and the next one is good`, async () => {
    const dataDir = newDataDir();
    const ended = await startAndEnd({ dataDir, ownGroup: true }, (pid) => amidMigrations(dataDir, () => send(pid)));
    expect(ended).toEqual({ code: 0, stdout: "", stderr: "" });
    expect(postgresOf(dataDir)).toBeUndefined();
    const next = await startTreadle({ dataDir });
    expect(await (await fetch(`${next.url}/api/health/ready`)).json()).toMatchObject({ status: "ready" });
    expect(await next.stop()).toBe(0);
  });

test("prints no warning of Node up to a sign-in through a provider", async () => {
  const issuer = await startOpenIdIssuer({ id: "treadle", secret: "shared" });
  const dataDir = newDataDir();
  const env = { OIDC_ISSUER: issuer.url, OIDC_CLIENT_ID: "treadle", OIDC_CLIENT_SECRET: "shared", NODE_OPTIONS: "--trace-warnings" };
  const server = await startTreadle({ dataDir, env });
  const asked = await fetch(`${server.url}/api/auth/csrf`);
  const { csrfToken } = (await asked.json()) as { csrfToken: string };
  const cookie = asked.headers
    .getSetCookie()
    .map((line) => line.split(";")[0])
    .join("; ");

  const answer = await fetch(`${server.url}/api/auth/signin/oidc`, {
    method: "POST",
    headers: { cookie, origin: server.url },
    body: new URLSearchParams({ csrfToken, callbackUrl: server.url, json: "true" }),
  });

  expect(await answer.json()).toEqual({ url: expect.stringContaining(`${issuer.url}/authorize?`) });
  expect(await server.stop()).toBe(0);
  expect(server.logs()).not.toMatch(/Warning/);
  await issuer.stop();
});

test.describe("an install, from its first start on", { tag: "@main" }, () => {
  test.describe.configure({ mode: "serial" });
  const key = `sk-service-${"headless".repeat(5)}`;
  const env = firstUser(key);
  let dataDir: string;
  let server: Treadle;
  let profile: UserProfile;
  test.afterAll(() => server.stop());

  test("a headless start makes owner, project and key", async () => {
    dataDir = newDataDir();
    // As outside of tests, whose servers share what was compiled.
    server = await startTreadle({ dataDir, env: { ...env, NODE_COMPILE_CACHE: "", LOG_LEVEL: "info" } });
    const api = apiClient({ url: server.url, key });
    const { body: me } = await api.get("/auth/me", { schema: AuthInfo });
    expect(me).toMatchObject({ email: "ada@example.com", auth: { type: "platform_key" } });
    ({ body: profile } = await api.get("/users/me", { schema: UserProfile }));
    expect(profile.projects.map(({ role }) => role)).toEqual(["admin"]);
    // Sign-up stays closed unless it is opened.
    await api.post("/auth/sign-up", { email: "eve@example.com", name: "Eve", password: "a good password" }, { status: 403 });
  });

  test("the first log line describes the release, its database and its address", async () => {
    const [line = "{}"] = server.logs().match(/^\{.*"Treadle starts"\}$/m) ?? [];
    expect(JSON.parse(line)).toMatchObject({
      release: expect.stringMatching(/^\d+\.\d+\.\d+/),
      database: expect.stringMatching(/^PostgreSQL \d+\.\d+ \(embedded\)$/),
      roles: ["web", "worker"],
      data_dir: dataDir,
      url: server.url,
    });
  });

  test("a second start on the same data folder says who holds it; SIGTERM ends everything and keeps what was compiled for the next", async () => {
    expectRefusal(await startAndEnd({ dataDir }), new RegExp(`in use by process ${server.pid}\\b`));
    expect((await fetch(`${server.url}/api/health/ready`)).status).toBe(200);
    expect(postgresOf(dataDir)).toBeGreaterThan(0);
    const postgres = postgresOf(dataDir) ?? 0;
    expect(await server.stop()).toBe(0);
    expect(() => process.kill(postgres, 0)).toThrow("ESRCH");
    await expect(fetch(server.url)).rejects.toThrow();
    expect(readdirSync(join(dataDir, "compile-cache"))).toHaveLength(1);
  });

  test("later starts change nothing", async () => {
    const otherKey = `sk-service-${"another1".repeat(5)}`;
    const others = { BOOTSTRAP_EMAIL: "eve@example.com", BOOTSTRAP_API_KEY: otherKey };
    server = await startTreadle({ dataDir, env: { ...env, ...others, RATE_LIMIT_PER_MINUTE: "7", RATE_LIMIT_BURST: "0" } });
    const { body: again } = await apiClient({ url: server.url, key }).get("/users/me", { schema: UserProfile });
    expect(again).toEqual(profile);
    await apiClient({ url: server.url, key: otherKey }).get("/users/me", { status: 401 });
  });

  test("the limit per address answers 429 with Retry-After, and its headers come with every answer", async () => {
    const api = apiClient({ url: server.url, key });
    const answers = [];
    // Two were asked for before.
    for (let n = 0; n < 6; n++) answers.push(await api.get("/auth/me"));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
    expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual(["4", "3", "2", "1", "0", "0"]);
    for (const { headers } of answers) expect(headers.get("x-ratelimit-limit")).toBe("7");
    expect(Number(answers[5]?.headers.get("retry-after"))).toBeGreaterThan(0);
    expect(answers[5]?.body.error_code).toBe("RATE_LIMIT_EXCEEDED");
  });
});
