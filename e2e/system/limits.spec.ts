import { request } from "node:http";
import { expect, test } from "@playwright/test";
import pg from "pg";
import { apiClient } from "#e2e/api-client.ts";
import { newDataDir, startTreadle, type Treadle } from "#e2e/server.ts";
import { onPostgres } from "#e2e/system/install.ts";
import { startOwnPostgres } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";

const key = `sk-service-${"limited1".repeat(5)}`;

/** One GET of /auth/me as somebody behind our proxy. */
const ask = ({ port }: Treadle, address: string): Promise<{ status: number; headers: Record<string, unknown> }> =>
  new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}`, "x-forwarded-for": address };
    const sent = request({ host: "127.0.0.1", port, path: "/api/v1/auth/me", headers, agent: false }, (response) => {
      response.resume().once("end", () => resolve({ status: response.statusCode ?? 0, headers: response.headers }));
    });
    sent.once("error", reject).end();
  });

const statuses = (answers: { status: number }[]) => Object.groupBy(answers, ({ status }) => String(status));

test("two web processes on one database keep one limit; without the database each keeps its own, and nobody gets a 5xx for it", async () => {
  const postgres = await startOwnPostgres();
  const env = {
    ...onPostgres(postgres, key),
    TRUST_PROXY: "1",
    RATE_LIMIT_PER_MINUTE: "40",
    RATE_LIMIT_BURST: "0",
    EXECUTIONS_PER_HOUR: "10",
  };
  const dataDir = newDataDir();
  const first = await startTreadle({ env, dataDir, role: "web" });
  const second = await startTreadle({ env, dataDir, role: "web" });
  const both = (n: number) => (n % 2 ? first : second);

  const answers = await Promise.all(Array.from({ length: 100 }, (_, n) => ask(both(n), "203.0.113.1")));
  expect(statuses(answers)["200"]).toHaveLength(40);
  expect(statuses(answers)["429"]).toHaveLength(60);
  for (const { status, headers } of answers) {
    expect(headers).toMatchObject({ "x-ratelimit-limit": "40", "x-ratelimit-reset": expect.stringMatching(/^\d{10}$/) });
    if (status === 429) expect([headers["x-ratelimit-remaining"], Number(headers["retry-after"]) >= 1]).toEqual(["0", true]);
  }
  const refusal = await apiClient({ url: first.url, key }).get("/auth/me", { headers: { "x-forwarded-for": "203.0.113.1" }, status: 429 });
  expect(refusal.body.error_code).toBe("RATE_LIMIT_EXCEEDED");
  // What is left is told alike by both.
  expect((await ask(first, "2001:db8:0:1::1")).headers["x-ratelimit-remaining"]).toBe("39");
  expect((await ask(second, "2001:db8:0:1:ffff::2")).headers["x-ratelimit-remaining"]).toBe("38");

  // The hour of a project is one too, however many ask at once and whichever process they ask.
  const clients = [first, second].map(({ url }) => apiClient({ url, key }));
  const headers = (n: number) => ({ "x-forwarded-for": `198.51.100.${n}` });
  const { body: workflow } = await (clients[0] as (typeof clients)[0]).post(
    "/workflows",
    { name: "Busy" },
    { status: 201, headers: headers(200) },
  );
  const executes = await Promise.all(
    Array.from({ length: 30 }, (_, n) =>
      (clients[n % 2] as (typeof clients)[0]).post(`/workflows/${workflow.id}/execute`, { input: String(n) }, { headers: headers(n) }),
    ),
  );
  expect(statuses(executes)["202"]).toHaveLength(10);
  const refused = statuses(executes)["429"] as typeof executes;
  expect(refused).toHaveLength(20);
  for (const { body, headers: told } of refused) {
    expect(body.error_code).toBe("RATE_LIMIT_EXCEEDED");
    expect(Number(told.get("retry-after"))).toBeGreaterThan(3000);
  }
  const database = new pg.Client(postgres.url);
  database.on("error", () => undefined);
  await database.connect();
  expect((await database.query("SELECT id FROM executions")).rowCount).toBe(10);
  await database.end();

  // Every answer tells, whatever it is.
  const auth = { authorization: `Bearer ${key}` };
  const big = { method: "POST", body: " ".repeat(5_000_000) };
  for (const [path, status, init] of [
    [`/executions/${executes.find(({ status }) => status === 202)?.body.execution_id}/stream`, 200, {}],
    ["/nothing", 404, {}],
    ["", 404, {}],
    ["/agents", 405, { method: "PATCH" }],
    ["/agents", 204, { method: "OPTIONS" }],
    ["/agents", 200, { method: "HEAD" }],
    ["/workflows", 413, big],
    ["/agents/%zz", 400, {}],
    ["/agents?page=0", 422, {}],
    ["/bridge/x", 403, {}],
  ] as const) {
    const answer = await fetch(`${first.url}/api/v1${path}`, { ...init, headers: { ...auth, "x-forwarded-for": "198.51.100.250" } });
    expect([path, answer.status]).toEqual([path, status]);
    expect(answer.headers.get("x-ratelimit-limit"), path).toBe("40");
    expect(answer.headers.get("x-ratelimit-remaining"), path).toMatch(/^\d+$/);
    expect(answer.headers.get("x-ratelimit-reset"), path).toMatch(/^\d{10}$/);
    await answer.body?.cancel();
  }

  // The database goes: what needs none is answered, and counted by each process alone.
  await postgres.kill9();
  const health = async (server: Treadle, path: string, address: string) =>
    fetch(`${server.url}${path}`, { headers: { "x-forwarded-for": address } });
  for (const server of [first, second]) {
    const document = await health(server, "/api/v1/openapi.json", "203.0.113.9");
    expect([document.status, document.headers.get("x-ratelimit-remaining")]).toEqual([200, "39"]);
  }
  await postgres.restart();
  await until(async () => (await health(first, "/api/health/ready", "203.0.113.9")).status === 200);
  // Once it is back they count together again.
  await until(async () => {
    const address = `203.0.113.${100 + Math.floor(Math.random() * 100)}`;
    await health(first, "/api/v1/openapi.json", address);
    return (await health(second, "/api/v1/openapi.json", address)).headers.get("x-ratelimit-remaining") === "38";
  });
  await Promise.all([first.stop(), second.stop()]);
  await postgres.stop();
});
