import { beforeAll, expect, test } from "vitest";
import { until } from "#e2e/until.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import type { ModelPrice } from "#server/features/llm-keys/schema.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import type { UsageGroup } from "#server/features/usage/schema.ts";
import { getUsage } from "#server/features/usage/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { agentChain, runChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// What is known of a call that did not end well, and of input that cost less than usual.

const database = testDatabase();
const models = testModelServer();
beforeAll(() => {
  collectEvents();
});

// The stand-in counts words.
const COST = 0.000011;

async function world(prices: ModelPrice[]) {
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, { ...key, prices });
  const agent = async (name: string, model: string, more: object = {}) =>
    (await createAgent(admin, { name, model, llm_key_id, ...more })).id;
  const usage = (group_by: UsageGroup = "day") => getUsage(admin, { group_by });
  return { admin, agent, usage };
}

/** A source without documents, so that a search finds nothing. @returns its id */
const shelf = async (admin: ProjectPrincipal) => (await createRag(admin, { name: "Shelf", type: "documents", config: {} })).id;

test("a failed call keeps the tools that it called, with their results, beside what it used", async () => {
  const { admin, agent, usage } = await world([{ model: "tool-*", input_per_million: 1, output_per_million: 2 }]);
  const id = await agent("Seeker", "tool-then-500-search_knowledge", { rag_ids: [await shelf(admin)] });
  const execution_id = await runChain(admin, agentChain([id]));
  expect((await getExecution(admin, { execution_id })).status).toBe("failed");
  const a0 = (await getExecutionLogs(admin, { execution_id, node_id: "a0" })).items[0];
  const call = { name: "search_knowledge", args: { query: "one two three" }, result: "Nothing was found. Try other words.", success: true };
  expect(a0).toMatchObject({ status: "failed", model: "tool-then-500-search_knowledge", tool_calls: [call] });
  expect(a0?.cost).toBeCloseTo(((a0?.input_tokens ?? 0) + 2 * (a0?.output_tokens ?? 0)) / 1e6, 12);
  expect(a0?.cost).toBeGreaterThan(0);
  expect((await usage()).total).toMatchObject({ calls: 1, cost: a0?.cost });
});

test("calls that a cancellation cuts off keep what they had done, each its own, and are counted once", async () => {
  const { admin, agent, usage } = await world([{ model: "tool-*", input_per_million: 1, output_per_million: 2 }]);
  const id = await agent("Seeker", "tool-then-hang-search_knowledge", { rag_ids: [await shelf(admin)] });
  const { nodes, edges } = agentChain([id, id]);
  const asked = nodes.map((node) => (node.id === "a1" ? { ...node, data: { ...node.data, input: "four five six seven" } } : node));
  const side = edges.map((edge) => ({ ...edge, source: "t" }));
  const execution_id = await startStoredRun(admin, { nodes: asked, edges: side });
  const running = claimAndExecute(engineServices, execution_id, 1e6);
  // Both models have answered once, and both are asked again with what the tool found.
  const isAskedAgain = () => models.calls({ model: "tool-then-hang-search_knowledge" }).filter(({ probe }) => !probe).length === 4;
  await until(async () => isAskedAgain() || undefined);
  await cancelExecution(admin, { execution_id });
  expect(await running).toEqual({ kind: "yielded" });

  const { items } = await getExecutionLogs(admin, { execution_id });
  const calls = Object.fromEntries(items.map((item) => [item.node_id, item]));
  for (const [node_id, query] of [
    ["a0", "one two three"],
    ["a1", "four five six seven"],
  ] as const) {
    const done = { name: "search_knowledge", args: { query }, result: "Nothing was found. Try other words.", success: true };
    expect(calls[node_id]).toMatchObject({ status: "skipped", tool_calls: [done], input_tokens: query.split(" ").length });
    expect(calls[node_id]?.cost).toBeGreaterThan(0);
  }
  const cost = Number(((calls.a0?.cost ?? 0) + (calls.a1?.cost ?? 0)).toFixed(12));
  expect(await getExecution(admin, { execution_id })).toMatchObject({ status: "cancelled", input_tokens: 7, cost, cost_is_partial: false });
  expect((await usage("source")).items).toMatchObject([{ key: "run", calls: 2, input_tokens: 7, cost }]);
  // Asked for again, nothing is left to carry on and nothing is counted twice.
  expect(await claimAndExecute(engineServices, execution_id, 1e6)).toMatchObject({ kind: "over" });
  expect((await usage()).total.calls).toBe(2);
});

test("input from the provider's cache has its own price where the key has one", async () => {
  const price = { input_per_million: 1, output_per_million: 2 };
  const prices = [
    { model: "cached-2", ...price, cached_input_per_million: 0.1 },
    { model: "cached-1", ...price },
  ];
  const { admin, agent } = await world(prices);
  const execution_id = await runChain(admin, agentChain([await agent("Cheap", "cached-2"), await agent("Usual", "cached-1")]));
  const { items } = await getExecutionLogs(admin, { execution_id });
  // 1 × 1 + 2 × 0.1 + 4 × 2, and 3 × 1 + 4 × 2.
  expect(items.slice(1)).toMatchObject([
    { input_tokens: 3, cached_tokens: 2, output_tokens: 4, cost: 0.0000092 },
    { input_tokens: 3, cached_tokens: 1, output_tokens: 4, cost: COST },
  ]);
  const rerun = await rerunExecution(admin, { execution_id, from_node_id: "a1", use_current: false });
  expect((await getExecutionLogs(admin, { execution_id: rerun.execution_id, node_id: "a0" })).items[0]).toMatchObject({ cached_tokens: 2 });
});
