import { beforeAll, expect, test } from "vitest";
import { createAgent } from "#server/features/agents/service.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { db } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { agentChain, runChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();
beforeAll(() => {
  collectEvents();
});

test("an answer that ended at the limit of its length says so in the results, the log, the events and reruns, and the run goes on", async () => {
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, key);
  const agent = async (name: string, model: string) => (await createAgent(admin, { name, model, llm_key_id })).id;
  const chain = agentChain([await agent("Cut", "cut-json"), await agent("Whole", "echo"), await agent("Last", "echo")]);
  // The straight way out may be named.
  const graph = { ...chain, edges: chain.edges.map((edge) => ({ ...edge, sourceHandle: "output" })) };
  const execution_id = await runChain(admin, graph);

  const { status, node_results } = await getExecution(admin, { execution_id });
  expect(status).toBe("completed");
  expect(node_results.a0).toMatchObject({ status: "complete", output: '{"answer": "half', answer_truncated: true });
  expect(node_results.a1).toMatchObject({ status: "complete", output: "Echo: one two three" });
  expect(node_results.a1).not.toHaveProperty("answer_truncated");
  const { items } = await getExecutionLogs(admin, { execution_id });
  expect(items.map(({ node_id, answer_truncated }) => [node_id, answer_truncated])).toEqual([
    ["t", undefined],
    ["a0", true],
    ["a1", undefined],
    ["a2", undefined],
  ]);
  const told = await db().executionEvent.findMany({ where: { execution_id, type: "node_complete" }, orderBy: { seq: "asc" } });
  expect(told.map(({ data }) => (data as { answer_truncated?: true }).answer_truncated)).toEqual([undefined, true, undefined, undefined]);

  const rerun = await rerunExecution(admin, { execution_id, from_node_id: "a2", use_current: false });
  await claimAndExecute(engineServices, rerun.execution_id, 1e6);
  const again = await getExecution(admin, { execution_id: rerun.execution_id });
  expect(again.status).toBe("completed");
  expect(again.node_results).toMatchObject({ a0: { reused: true, answer_truncated: true }, a1: { reused: true }, a2: { reused: false } });
});
