import { afterEach, beforeEach, expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings, settings } from "#server/platform/settings.ts";
import { executeRun } from "#server/runs/executor/execute-run.ts";
import { localWorker } from "#server/runs/local-worker.ts";
import { memoryAccount } from "#server/runs/memory-account.ts";
import { startRunWorker } from "#server/runs/worker/run-worker.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Runs that together hold more than one process may.

const LIMIT = 1_000_000;
const LARGE_RUNS = 6;
const position = { x: 0, y: 0 };
const database = testDatabase();
const models = testModelServer();
let admin: ProjectPrincipal;
let stopWorker: ((graceMs: number) => Promise<void>) | undefined;

beforeEach(async () => {
  admin = await database.newAdmin();
  setSettings({ RUN_MEMORY_BYTES: String(LIMIT) });
});
afterEach(async () => {
  await stopWorker?.(2000);
  setSettings({ RUN_MEMORY_BYTES: "" });
});

const node = (id: string, type: string, data: object = {}) => ({ id, type, position, data: { label: id, ...data } });
const edge = (source: string, target: string) => ({ id: `${source}-${target}`, source, target });
const statusOf = async (id: string) => (await db().execution.findUniqueOrThrow({ where: { id } })).status;

test("large runs of one process take turns while a small one completes", async () => {
  const key = { name: "Key", provider: "openai_compatible" as const, api_key: "sk-held-memory", base_url: models.url };
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const { id: agent_id } = await createAgent(admin, { name: "Slow", model: "echo", llm_key_id });
  const gate = Promise.withResolvers<void>();
  const calls = new Map<string, number>();
  let most = 0;
  const services = storedServices({
    callAgent: async ({ run }) => {
      calls.set(run.execution_id, (calls.get(run.execution_id) ?? 0) + 1);
      most = Math.max(most, memoryAccount.bytes);
      await gate.promise;
      return { output: "answer" };
    },
  });
  stopWorker = await startRunWorker(pool(), services, async (_, claim) => {
    const claimed = await claim();
    if (claimed.kind === "claimed") await executeRun(services, claimed.run, settings().SEGMENT_SECONDS);
  });
  const parts = ["p1", "p2", "p3"];
  const fields = [{ name: "text", value: "{{trigger.output}}", type: "text" }];
  const large = {
    nodes: [
      node("t", "triggerNode"),
      ...parts.map((id) => node(id, "setNode", { fields })),
      node("a", "agentNode", { agent_id, input: "go" }),
      node("o", "outputNode", { value: "{{a.output}}" }),
    ],
    edges: [...parts.flatMap((id) => [edge("t", id), edge(id, "a")]), edge("a", "o")],
  };
  const small = { nodes: [node("t", "triggerNode"), node("o", "outputNode", { value: "small" })], edges: [edge("t", "o")] };

  const ids: string[] = [];
  for (let index = 0; index < LARGE_RUNS; index++) ids.push(await startStoredRun(admin, large, "x".repeat(100_000)));
  await until(() => memoryAccount.deferred > 0);
  const smallId = await startStoredRun(admin, small);
  await until(async () => (await statusOf(smallId)) === "completed");
  expect(calls.size).toBeLessThan(LARGE_RUNS);
  gate.resolve();
  await until(async () => {
    await pool().query("UPDATE executions SET run_at = now() WHERE run_at > now() AND lease_until IS NULL");
    localWorker(pool())?.poke();
    return (await Promise.all(ids.map(statusOf))).every((status) => status === "completed");
  });

  expect([...calls.values()]).toEqual(Array(LARGE_RUNS).fill(1));
  expect(most).toBeLessThan(1.5 * LIMIT);
  expect(memoryAccount.bytes).toBe(0);
});
