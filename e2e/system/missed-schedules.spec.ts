import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { newDataDir, startTreadle } from "#e2e/server.ts";
import { noRateLimit, onPostgres } from "#e2e/system/install.ts";
import { newDatabase } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { freePort } from "#server/platform/db/embedded.ts";
import { Execution } from "#server/runs/schema.ts";

const key = `sk-service-${"missing1".repeat(5)}`;
const DAY_MS = 24 * 60 * 60 * 1000;

test("fires missed while the service was down are made up for by one run, by a start alone and by no later one", async () => {
  const postgres = await newDatabase(); // outlives the service: what came due meanwhile is written there
  const models = await startModelServer();
  const place = { dataDir: newDataDir(), port: await freePort() };
  const start = () => startTreadle({ ...place, env: { ...onPostgres(postgres, key), ...noRateLimit, ALLOW_PRIVATE_NETWORK: "1" } });
  const first = await start();
  const api = apiClient({ url: first.url, key });
  const database = new pg.Client(postgres.url);
  await database.connect();

  const fields = { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url };
  const { body: llm } = await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 });
  const { body: agent } = await api.post("/agents", { name: "Echo", model: "echo", llm_key_id: llm.id }, { schema: Agent, status: 201 });
  const save = async (name: string, cron_expression: string) => {
    const schedule = { kind: "schedule", cron_expression, default_input: `good morning, ${name}` };
    const graph = graphOf({ t: ["trigger", schedule], a: ["agent", { agent_id: agent.id, input: "{{trigger.output}}" }] }, ["t>a"]);
    return (await api.post("/workflows", { name, ...graph }, { schema: Workflow, status: 201 })).body.id;
  };
  const daily = await save("Daily", "0 9 * * *");
  const weekly = await save("Weekly", "30 6 * * 1");
  const runsOf = async (id: string): Promise<Execution[]> => {
    const { body } = await api.get(`/workflows/${id}/executions`, { status: 200 });
    return Promise.all(body.map(async (run: Execution) => (await api.get(`/executions/${run.id}`, { schema: Execution })).body));
  };
  const madeUp = (id: string) => until(async () => (await runsOf(id)).some(({ status }) => status === "completed"));
  const scheduleOf = async (id: string) => {
    const rows = await database.query<{ last_fire_at: Date | null; next_fire_at: Date }>(
      "SELECT last_fire_at, next_fire_at FROM schedules WHERE workflow_id = $1",
      [id],
    );
    return rows.rows[0];
  };
  const dueSince = (id: string, time: Date) =>
    database.query("UPDATE schedules SET next_fire_at = $2 WHERE workflow_id = $1 AND active", [id, time]);

  expect(await first.stop()).toBe(0);
  // The look at each minute is put off, so that nothing but a start can make up for anything.
  const never = new Date(Date.now() + DAY_MS);
  const { rowCount } = await database.query(
    "UPDATE treadle_worker._private_known_crontabs SET last_execution = $1 WHERE identifier = 'fire-schedules'",
    [never],
  );
  expect(rowCount).toBe(1);
  const missed = new Date(`${new Date(Date.now() - 4 * DAY_MS).toISOString().slice(0, 10)}T09:00:00Z`); // and on each day since
  await dueSince(daily, missed);

  const started = Date.now();
  const second = await start();
  await madeUp(daily);
  const [fire, ...more] = await runsOf(daily);
  expect(more).toEqual([]);
  expect(fire).toMatchObject({ trigger: "schedule", input: "good morning, Daily", output: "Echo: good morning, Daily" });
  expect(Date.parse(fire?.created_at ?? "")).toBeGreaterThan(started);
  const next = await scheduleOf(daily);
  expect(next?.last_fire_at).toEqual(missed);
  expect(next?.next_fire_at.toISOString()).toMatch(/T09:00:00\.000Z$/);
  expect(next?.next_fire_at.getTime()).toBeGreaterThan(started);
  expect(await runsOf(weekly)).toEqual([]);

  // A start after a crash makes up for what came due since, and not again for what was.
  await second.kill9();
  await dueSince(weekly, new Date());
  const third = await start();
  await madeUp(weekly); // the later of the two: a fire that is due longer comes first
  expect(await runsOf(weekly)).toHaveLength(1);
  expect(await runsOf(daily)).toHaveLength(1);
  expect(await scheduleOf(daily)).toEqual(next);
  for (const name of ["Daily", "Weekly"]) expect(models.calls({ contains: name })).toHaveLength(1);
  const { rows } = await database.query(
    "SELECT last_execution FROM treadle_worker._private_known_crontabs WHERE identifier = 'fire-schedules'",
  );
  expect(rows, "no minute has passed for the worker").toEqual([{ last_execution: never }]);

  await third.stop();
  await database.end();
  await models.stop();
  await postgres.stop();
});
