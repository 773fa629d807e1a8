import { expect, test } from "@playwright/test";
import pg from "pg";
import { graphOf } from "#e2e/api/graphs.ts";
import { apiClient } from "#e2e/api-client.ts";
import { startModelServer } from "#e2e/fakes/model-server.ts";
import { newDataDir, startTreadle } from "#e2e/server.ts";
import { noLimits, onPostgres } from "#e2e/system/install.ts";
import { newDatabase } from "#e2e/system/own-postgres.ts";
import { until } from "#e2e/until.ts";
import { Agent } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Workflow } from "#server/features/workflows/schema.ts";
import { ExecuteResult } from "#server/runs/schema.ts";

const key = `sk-service-${"followed".repeat(5)}`;

test("on a PostgreSQL that is shared, who starts again in a folder takes up what was held there at once, and from the living nothing", async () => {
  const [postgres, models] = [await newDatabase(), await startModelServer()];
  const env = { ...onPostgres(postgres, key), ...noLimits, ALLOW_PRIVATE_NETWORK: "1" };
  const dataDir = newDataDir();
  const start = () => startTreadle({ env, dataDir });
  const first = await start();
  const api = apiClient({ url: first.url, key });
  const fields = { name: "Stand-in", provider: "openai_compatible", api_key: "stand-in-key", base_url: models.url };
  const { body: llm } = await api.post("/llm-keys", fields, { schema: LlmKey, status: 201 });
  const { body: agent } = await api.post("/agents", { name: "Scout", model: "echo", llm_key_id: llm.id }, { schema: Agent, status: 201 });
  const graph = graphOf({ t: ["trigger"], a: ["agent", { agent_id: agent.id, input: "[[hang]] {{trigger.output}}" }], o: ["output"] }, [
    "t>a",
    "a>o",
  ]);
  const { body: flow } = await api.post("/workflows", { name: "Held", ...graph }, { schema: Workflow, status: 201 });
  const { body } = await api.post(`/workflows/${flow.id}/execute`, { input: "held" }, { schema: ExecuteResult, status: 202 });
  await until(() => models.calls({ contains: "held" }).length === 1);

  const database = new pg.Client(postgres.url);
  await database.connect();
  const lease = async (): Promise<{ lease_owner: string; is_held: boolean; lease_epoch: number }> => {
    const text = "SELECT lease_owner, lease_epoch, lease_until > now() AS is_held FROM executions WHERE id = $1";
    const { rows } = await database.query(text, [body.execution_id]);
    return rows[0];
  };
  const held = await lease();
  expect(held).toMatchObject({ is_held: true, lease_epoch: 1 });

  // Another process in the same folder, while the first one lives, leaves it what it holds.
  const beside = await start();
  expect(await lease()).toEqual(held);
  await beside.stop();
  expect(await lease()).toEqual(held);

  await first.kill9();
  const second = await start();
  const next = await lease();
  expect(next.is_held === true && next.lease_owner === held.lease_owner, "the dead process holds it still").toBe(false);
  await until(() => models.calls({ contains: "held" }).length === 2, 40_000);
  expect((await lease()).lease_owner).toMatch(new RegExp(`^${second.pid}-`));

  await second.kill9(); // told to stop, it would wait for the call
  await database.end();
  await models.stop();
  await postgres.stop();
});
