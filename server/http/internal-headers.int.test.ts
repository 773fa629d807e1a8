import { createHmac } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { beforeAll, expect, onTestFinished, test } from "vitest";
import { createPlatformKey } from "#server/features/platform-keys/service.ts";
import { listenToWebhook } from "#server/features/webhooks/listen.ts";
import { setupWebhook } from "#server/features/webhooks/service.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { answerApi } from "#server/http/api.ts";
import { startRunsDirectly } from "#server/http/direct.ts";
import { createFront } from "#server/http/front/front.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { pool } from "#server/platform/db/client.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const FRONT_TOKEN = "front token of the tests, of 32 letters";
let admin: ProjectPrincipal;
let key: string;

beforeAll(async () => {
  setSettings({ TREADLE_FRONT_TOKEN: FRONT_TOKEN, TREADLE_SETUP_CODE: "setup code of the tests", BRAVE_API_KEY: "brave key of the tests" });
  admin = await database.newAdmin();
  key = (await createPlatformKey(admin, { name: "CI" })).key;
});

/** Passes a request on as Next does: with every header that the front has set. */
async function passOn(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const headers = new Headers(request.headers as Record<string, string>);
  const answer = await answerApi(new Request(`http://localhost${request.url}`, { method: request.method ?? "GET", headers }));
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}

async function startFront(): Promise<string> {
  const off = { TRUST_PROXY: false, RATE_LIMIT_PER_MINUTE: 0, RATE_LIMIT_BURST: 0, RATE_LIMIT_WEB: 0, INNGEST_DEV: false };
  const front = createFront({
    handle: startRunsDirectly(passOn),
    settings: { ...off, MAX_BODY_BYTES: 4 * 1024 * 1024, TREADLE_FRONT_TOKEN: FRONT_TOKEN },
  });
  const port = await front.listen(0, "127.0.0.1");
  onTestFinished(() => front.drain(0));
  return `http://127.0.0.1:${port}`;
}

const workflowOf = (data: object) =>
  createWorkflow(admin, {
    name: JSON.stringify(data),
    nodes: [{ id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", ...data } }],
    edges: [],
  });

/** Secrets of this process that no stored or shown request may contain. */
const processSecrets = () =>
  Object.entries(settings())
    .filter(([name, value]) => /SECRET|_KEY|TOKEN|CODE|PASSWORD/.test(name) && typeof value === "string")
    .map(([, value]) => String(value));

/** Every row of every table, as text. */
async function storedText(): Promise<string> {
  const { rows } = await pool().query("SELECT format('%I.%I', schemaname, tablename) AS name FROM pg_tables WHERE schemaname = 'public'");
  const tables = rows.map(({ name }) => pool().query(`SELECT coalesce(string_agg(t::text, E'\\n'), '') AS text FROM ${name} AS t`));
  return (await Promise.all(tables)).map(({ rows: [row] }) => row.text).join("\n");
}

test("stores and shows no internal header and no secret of the process", async () => {
  const url = await startFront();
  const authorized = {
    authorization: `Bearer ${key}`,
    "content-type": "application/json",
    "x-treadle-front": "forged",
    "x-sent": "by caller",
  };
  const hooked = await workflowOf({ kind: "webhook" });
  const called = await workflowOf({ kind: "http", response_mode: "async", allowed_methods: ["POST"] });
  const { webhook_secret } = await setupWebhook(admin, { workflow_id: hooked.id });
  await listenToWebhook(admin, { workflow_id: hooked.id, is_on: true });
  const body = '{"a":1}';
  const signature = `sha256=${createHmac("sha256", webhook_secret).update(body).digest("hex")}`;
  const post = (path: string, headers: Record<string, string>) => fetch(`${url}${path}`, { method: "POST", headers, body });

  const statuses = [
    await post(`/webhooks/${hooked.id}`, { "x-service-signature": signature, "x-treadle-on-machine": "1", "x-sent": "by caller" }),
    await post(`/webhooks/${hooked.id}`, { "x-service-signature": "sha256=0" }),
    await post(`/api/v1/http/${called.id}`, authorized),
    await post(`/api/v1/workflows/${hooked.id}/execute`, authorized),
  ].map(({ status }) => status);
  const paths = [`/workflows/${hooked.id}`, `/workflows/${called.id}`, "/executions", "/workflows", "/auth/me", "/platform-keys", "/none"];
  const shown = await Promise.all(
    paths.map(async (path) => (await fetch(`${url}/api/v1${path}`, { headers: { authorization: `Bearer ${key}` } })).text()),
  );

  expect(statuses.slice(0, 3)).toEqual([202, 401, 202]);
  const text = `${await storedText()}\n${shown.join("\n")}`;
  expect(text).toContain("by caller");
  expect(text).not.toMatch(/x-treadle-/i);
  expect(processSecrets().length).toBeGreaterThanOrEqual(5);
  for (const secret of processSecrets()) expect(text).not.toContain(secret);
});

test("knows the client's address after the internal headers are gone", async () => {
  const url = await startFront();
  const path = `${url}/api/v1/executions/019a8f3e-5b7a-7c55-9d1f-0b6c2f6f9a10/stream`;

  await fetch(path, { headers: { authorization: `Bearer ${key}` } });

  const { rows } = await pool().query("SELECT last_used_ip FROM platform_keys WHERE user_id = $1", [admin.user.id]);
  expect(rows).toEqual([{ last_used_ip: "127.0.0.1" }]);
});
