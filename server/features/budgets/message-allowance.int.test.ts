import { beforeAll, beforeEach, expect, test } from "vitest";
import { createAgent } from "#server/features/agents/service.ts";
import type { Hold } from "#server/features/budgets/holds.ts";
import { holdForMessage, MessageLimitReached } from "#server/features/budgets/message-allowance.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { startErrorWorkflow } from "#server/features/workflows/error-workflow.ts";
import { executeWorkflow } from "#server/features/workflows/execute.ts";
import type { CreateWorkflowInput } from "#server/features/workflows/schema.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { agentChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();
beforeAll(() => {
  collectEvents();
  return () => setSettings({ ASSISTANT_MESSAGE_COST: "" });
});
beforeEach(() => models.reset());

// The model server counts words: "one two three" is 3 tokens in, and "echo: one two three" 4 out. At these prices that is 70 cents.
const PRICES = [{ model: "echo", input_per_million: 100_000, output_per_million: 100_000 }];
const CALL = 0.7;
const CALLS = 20;

/** A project with an agent, and a message to the assistant that may spend `limit` US dollars. */
async function world(limit: number) {
  setSettings({ ASSISTANT_MESSAGE_COST: String(limit) });
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, { ...key, prices: PRICES });
  const { id: agent_id } = await createAgent(admin, { name: "One", model: "echo", llm_key_id, max_tokens: 4 });
  const thread = await db().assistantThread.create({ data: { project_id: admin.project.id, user_id: admin.user.id, title: "Thread" } });
  const { id: message_id } = await db().assistantMessage.create({ data: { thread_id: thread.id, content: "Run it", mode: "build" } });
  const assistant: ProjectPrincipal = { ...admin, auth: { type: "assistant", message_id } };
  models.reset();

  const spent = async () => {
    const row = await db().assistantMessage.findUniqueOrThrow({ where: { id: message_id } });
    return { spent: row.spent.toNumber(), held: row.held.toNumber() };
  };
  const start = async (graph: Partial<CreateWorkflowInput>, by = assistant): Promise<string> => {
    const { id: workflow_id } = await createWorkflow(admin, { name: `Flow ${crypto.randomUUID()}`, ...graph } as CreateWorkflowInput);
    return (await executeWorkflow(by, { workflow_id })).execution_id;
  };
  const go = (id: string) => claimAndExecute(engineServices, id, 1e6);
  const statusOf = async (execution_id: string) => (await getExecution(admin, { execution_id })).status;
  const messageOf = async (id: string) => (await db().execution.findUnique({ where: { id } }))?.assistant_message_id;
  return { admin, agent_id, message_id, spent, start, go, statusOf, messageOf };
}

const chainOf = (agent_id: string) =>
  agentChain(
    Array.from({ length: CALLS }, () => agent_id),
    { on_error: "continue" },
  );

test("of many calls at once as many begin as the allowance covers", async () => {
  const { message_id, spent } = await world(5);

  const results = await Promise.allSettled(Array.from({ length: CALLS }, () => holdForMessage(message_id, 1)));

  const held = results.flatMap((result) => (result.status === "fulfilled" && result.value ? [result.value] : ([] as Hold[])));
  expect(held).toHaveLength(5);
  for (const result of results) if (result.status === "rejected") expect(result.reason).toBeInstanceOf(MessageLimitReached);
  await Promise.all(held.map(({ settle }) => settle(0.5)));
  expect(await spent()).toEqual({ spent: 2.5, held: 0 });
});

test("a run is cancelled by the call that passes the limit of its message", async () => {
  const { agent_id, spent, start, go, statusOf } = await world(2);
  const id = await start(chainOf(agent_id));

  await go(id);

  expect(await statusOf(id)).toBe("cancelled");
  expect(models.calls().length).toBe(Math.ceil(2 / CALL));
  expect((await spent()).spent).toBeLessThan(2 + CALL);
});

test("agents that run in parallel exceed the limit by one call at most", async () => {
  const { agent_id, start, go, statusOf } = await world(2);
  const { nodes, edges } = chainOf(agent_id);
  const id = await start({ nodes, edges: edges.map((edge) => ({ ...edge, source: "t" })) });

  await go(id);

  expect(await statusOf(id)).toBe("cancelled");
  expect(models.calls().length).toBeLessThanOrEqual(Math.ceil(2 / CALL));
});

test("all runs of a message share its limit", async () => {
  const { agent_id, start, go, statusOf } = await world(2);
  const [first, second] = [await start(chainOf(agent_id)), await start(chainOf(agent_id))];

  await go(first);
  await go(second);

  expect([await statusOf(first), await statusOf(second)]).toEqual(["cancelled", "cancelled"]);
  expect(models.calls().length).toBe(Math.ceil(2 / CALL));
});

test("a run of a person does not spend from a message", async () => {
  const { admin, agent_id, spent, start, go, statusOf } = await world(2);
  const id = await start(chainOf(agent_id), admin);

  await go(id);

  expect(await statusOf(id)).toBe("completed");
  expect(models.calls().length).toBe(CALLS);
  expect(await spent()).toEqual({ spent: 0, held: 0 });
});

test("tokens without a known price count toward the limit", async () => {
  const { admin, agent_id, spent, start, go, statusOf } = await world(0.00001);
  await db().llmKey.updateMany({ where: { project_id: admin.project.id }, data: { prices: [] } });
  const id = await start(chainOf(agent_id));

  await go(id);

  expect(await statusOf(id)).toBe("cancelled");
  expect(models.calls().length).toBe(1);
  expect((await spent()).spent).toBeCloseTo(7 / 400_000, 10);
});

test("a child run spends from the message of its parent", async () => {
  const { admin, agent_id, message_id, start, go, messageOf } = await world(2);
  const { id: workflow_id } = await createWorkflow(admin, { name: "Child", ...agentChain([agent_id]) } as CreateWorkflowInput);
  const position = { x: 0, y: 0 };
  const parent = await start({
    nodes: [
      { id: "t", type: "triggerNode", position, data: { label: "Start" } },
      { id: "w", type: "workflowNode", position, data: { label: "Run it", workflow_id } },
    ],
    edges: [{ id: "e", source: "t", target: "w" }],
  });

  await go(parent);

  const child = async () => (await db().execution.findFirst({ where: { parent_id: parent } }))?.id ?? "";
  await expect.poll(child).not.toBe("");
  expect(await messageOf(await child())).toBe(message_id);
});

test("an error run spends from the message of the run that failed", async () => {
  const { admin, agent_id, message_id, start, messageOf } = await world(2);
  const { id: error_workflow_id } = await createWorkflow(admin, { name: "Errors", ...agentChain([agent_id]) } as CreateWorkflowInput);
  const failed = await start({ ...agentChain([agent_id]), error_workflow_id });
  await db().execution.update({ where: { id: failed }, data: { status: "failed", started_at: new Date(), completed_at: new Date() } });

  await startErrorWorkflow(failed);

  const error = await db().execution.findFirstOrThrow({ where: { workflow_id: error_workflow_id } });
  expect(await messageOf(error.id)).toBe(message_id);
});
