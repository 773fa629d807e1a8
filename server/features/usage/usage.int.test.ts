import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { testAgent } from "#server/features/agents/chat.ts";
import { createAgent, deleteAgent } from "#server/features/agents/service.ts";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import type { ModelPrice } from "#server/features/llm-keys/schema.ts";
import { createLlmKey, updateLlmKey } from "#server/features/llm-keys/service.ts";
import { foldUsage } from "#server/features/usage/record.ts";
import type { UsageGroup } from "#server/features/usage/schema.ts";
import { getUsage } from "#server/features/usage/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { deleteExecutions } from "#server/runs/store/delete-executions.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import { listExecutions } from "#server/runs/use-cases/list-executions.ts";
import { agentChain, runChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();
beforeAll(() => {
  collectEvents();
});

const today = new Date().toISOString().slice(0, 10);
// The stand-in counts words, so "one two three" is 3 tokens in, and "echo: one two three" 4 out: 3 × 1 + 4 × 2 = 11.
const PRICES: ModelPrice[] = [{ model: "echo", input_per_million: 1, output_per_million: 2 }];
const COST = 0.000011;
const times = (count: number) => Number((count * COST).toFixed(12));

async function world(prices = PRICES) {
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, { ...key, prices });
  const agent = async (name: string, model: string, more: object = {}) =>
    (await createAgent(admin, { name, model, llm_key_id, ...more })).id;
  const usage = (group_by: UsageGroup = "day", more: object = {}) => getUsage(admin, { group_by, ...more });
  return { admin, llm_key_id, agent, usage };
}

test("a run costs what its calls cost, in the run, its nodes, its log and the list", async () => {
  const { admin, agent } = await world();
  const execution_id = await runChain(admin, agentChain([await agent("One", "echo"), await agent("Two", "echo")]));
  const execution = await getExecution(admin, { execution_id });
  expect(execution).toMatchObject({ status: "completed", input_tokens: 6, output_tokens: 8, cost: times(2), cost_is_partial: false });
  expect(execution.node_results).toMatchObject({ t: { cost: 0 }, a0: { cost: COST }, a1: { cost: COST } });
  const { items } = await getExecutionLogs(admin, { execution_id });
  expect(items.map(({ node_id, cost }) => [node_id, cost])).toEqual([
    ["t", 0],
    ["a0", COST],
    ["a1", COST],
  ]);
  const [summary] = (await listExecutions(admin, { page: 1, per_page: 5 })).items;
  expect(summary).toMatchObject({ cost: times(2), cost_is_partial: false });
  const told = await db().executionEvent.findMany({ where: { execution_id, type: "node_complete" }, orderBy: { seq: "asc" } });
  expect(told.map(({ data }) => (data as { cost?: number }).cost)).toEqual([undefined, COST, COST]);
});

test("a price that is not known is null and never 0, and makes the sum a part", async () => {
  const { admin, agent, usage } = await world();
  const [known, unknown] = [await agent("Known", "echo"), await agent("Unknown", "parrot")];
  const mixed = await getExecution(admin, { execution_id: await runChain(admin, agentChain([known, unknown])) });
  expect(mixed).toMatchObject({ status: "completed", cost: COST, cost_is_partial: true });
  expect(mixed.node_results).toMatchObject({ a0: { cost: COST }, a1: { cost: null } });
  const dark = await getExecution(admin, { execution_id: await runChain(admin, agentChain([unknown])) });
  expect(dark).toMatchObject({ cost: null, cost_is_partial: true });
  const without = await getExecution(admin, { execution_id: await runChain(admin, agentChain([])) });
  expect(without).toMatchObject({ cost: 0, cost_is_partial: false });
  const { total, items } = await usage("model");
  expect(total).toMatchObject({ calls: 3, calls_without_price: 2, cost: COST, cost_is_partial: true });
  expect(items.find(({ key }) => key === "parrot")).toMatchObject({ calls: 2, cost: null, provider: "openai_compatible" });
});

test("a later price changes nothing that is on record", async () => {
  const { admin, agent, usage, llm_key_id } = await world();
  const one = await agent("One", "echo");
  const before = await runChain(admin, agentChain([one]));
  await updateLlmKey(admin, { key_id: llm_key_id, prices: [{ model: "echo", input_per_million: 0, output_per_million: 0 }] });
  const after = await runChain(admin, agentChain([one]));
  expect((await getExecution(admin, { execution_id: before })).cost).toBe(COST);
  expect(await getExecution(admin, { execution_id: after })).toMatchObject({ cost: 0, cost_is_partial: false });
  expect((await usage()).total).toMatchObject({ calls: 2, calls_without_price: 0, cost: COST });
});

test("a call that fails after the model has answered is counted with what it used", async () => {
  const { admin, agent, usage } = await world();
  const output_schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] };
  const id = await agent("Bound", "echo", { output_schema });
  const execution = await getExecution(admin, { execution_id: await runChain(admin, agentChain([id])) });
  expect(execution.status).toBe("failed");
  const { a0 } = execution.node_results;
  expect(a0).toMatchObject({ status: "failed" });
  expect(a0?.input_tokens).toBeGreaterThan(3);
  expect(a0?.cost).toBeCloseTo(((a0?.input_tokens ?? 0) + 2 * (a0?.output_tokens ?? 0)) / 1e6, 12);
  expect(execution.cost).toBe(a0?.cost);
  expect((await usage()).total).toMatchObject({ calls: 1, input_tokens: a0?.input_tokens, cost: a0?.cost });
});

test("tests and chats count as chat, also those that fail after an answer", async () => {
  const { admin, agent, usage } = await world();
  const id = await agent("One", "echo");
  expect(await testAgent(admin, { agent_id: id, message: "one two three" })).toMatchObject({ cost: COST });
  await runChain(admin, agentChain([id]));
  const { items } = await usage("source");
  expect(items).toMatchObject([
    { key: "chat", calls: 1, cost: COST },
    { key: "run", calls: 1, cost: COST },
  ]);
  const bound = await agent("Bound", "echo", { output_schema: { type: "object", required: ["a"] } });
  await expect(testAgent(admin, { agent_id: bound, message: "one" })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect((await usage("source")).items.find(({ key }) => key === "chat")?.calls).toBe(2);
  const wrong = await agent("Wrong", "echo");
  await db().agent.update({ where: { id: wrong }, data: { model: "status-404" } });
  await expect(testAgent(admin, { agent_id: wrong, message: "one" })).rejects.toMatchObject({ code: "UPSTREAM_ERROR" });
  expect((await usage("source")).total.calls).toBe(3);
});

test("the same is told before and after calls are added to their days, by every group, and per project", async () => {
  const [first, second] = [await world(), await world()];
  const [one, two] = [await first.agent("One", "echo"), await first.agent("Two", "parrot")];
  const execution_id = await runChain(first.admin, agentChain([one, two, one]));
  await testAgent(first.admin, { agent_id: one, message: "one two three" });
  await runChain(second.admin, agentChain([await second.agent("Theirs", "echo")]));
  const groups: UsageGroup[] = ["day", "agent", "workflow", "model", "source"];
  const all = () => Promise.all(groups.map((group) => first.usage(group)));
  const before = await all();
  await Promise.all([foldUsage({ batch: 2 }), foldUsage({ batch: 3 })]);
  expect(await db().usageCall.count()).toBe(0);
  expect(await all()).toEqual(before);
  const { workflow_id, workflow_name } = await getExecution(first.admin, { execution_id });
  const names = Object.fromEntries(
    before.map(({ group_by, items }) => [group_by, items.map(({ key, name, calls }) => [key, name, calls])]),
  );
  expect(names.agent).toEqual([
    [one, "One", 3],
    [two, "Two", 1],
  ]);
  expect(names.workflow).toEqual([
    [workflow_id, workflow_name, 3],
    [null, null, 1],
  ]);
  expect(before[0]?.items).toHaveLength(30);
  expect(before[0]?.items.at(-1)).toMatchObject({ key: today, calls: 4, calls_without_price: 1, cost: times(3), cost_is_partial: true });
  expect(before[0]?.items[0]).toMatchObject({ calls: 0, cost: 0, cost_is_partial: false });
  // More of the same day is added to what is there.
  await testAgent(first.admin, { agent_id: one, message: "one two three" });
  expect(await foldUsage()).toBe(1);
  expect((await first.usage("agent")).items[0]).toMatchObject({ key: one, calls: 4, cost: times(4) });
});

test("what was used stays when agents and executions go", async () => {
  const { admin, agent, usage } = await world();
  const id = await agent("Gone", "echo");
  await testAgent(admin, { agent_id: id, message: "one two three" });
  await deleteAgent(admin, { agent_id: id });
  const other = await agent("Other", "echo");
  await runChain(admin, agentChain([other]));
  await deleteExecutions(admin.project.id, new Date(Date.now() + 60_000), () => true);
  const { items, total } = await usage("agent");
  expect(total).toMatchObject({ calls: 2, cost: times(2) });
  expect(items.map(({ key, name }) => [key, name])).toEqual(
    expect.arrayContaining([
      [id, null],
      [other, "Other"],
    ]),
  );
});

test("a rerun shows the cost of what it takes over and does not count it again", async () => {
  const { admin, agent, usage } = await world();
  const id = await agent("One", "echo");
  const original = await runChain(admin, agentChain([id, id]));
  const { execution_id } = await rerunExecution(admin, { execution_id: original, from_node_id: "a1", use_current: false });
  await claimAndExecute(engineServices, execution_id, 1e6);
  const rerun = await getExecution(admin, { execution_id });
  expect(rerun).toMatchObject({ status: "completed", cost: COST });
  expect(rerun.node_results).toMatchObject({ a0: { cost: COST, reused: true }, a1: { cost: COST, reused: false } });
  expect((await usage()).total.calls).toBe(3);
});

test("days are told from the first to the last asked for, at most a year of them", async () => {
  const { admin, usage } = await world();
  const row = (day: string, cost: number) => ({
    project_id: admin.project.id,
    day: new Date(day),
    source: "chat",
    workflow_id: randomUUID(),
    agent_id: randomUUID(),
    provider: "openai",
    model: "m",
    calls: 1,
    calls_without_price: 0,
    input_tokens: 3_000_000_000,
    output_tokens: 1,
    cost,
  });
  await db().usageDay.createMany({ data: [row("2026-01-31", 1), row("2026-02-01", 2), row("2026-02-28", 4), row("2026-03-01", 8)] });
  const { items, total } = await usage("day", { from: "2026-02-01", to: "2026-02-28" });
  expect([items.length, items[0]?.key, items.at(-1)?.key]).toEqual([28, "2026-02-01", "2026-02-28"]);
  expect(total).toMatchObject({ calls: 2, input_tokens: 6_000_000_000, cost: 6 });
  for (const bad of [
    { from: "2026-02-02", to: "2026-02-01" },
    { from: "2025-01-01", to: "2026-01-02" },
    { from: "0000-01-01", to: "0000-01-02" },
  ])
    await expect(usage("day", bad)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "from" }] });
});

test("runs older than prices say that their cost is not known", async () => {
  const { admin, agent } = await world();
  const execution_id = await runChain(admin, agentChain([await agent("One", "echo")]));
  await pool().query("UPDATE executions SET cost = NULL WHERE id = $1", [execution_id]);
  await pool().query("UPDATE node_runs SET cost = NULL WHERE execution_id = $1", [execution_id]);
  const execution = await getExecution(admin, { execution_id });
  expect(execution).toMatchObject({ cost: null, cost_is_partial: true });
  expect(execution.node_results).toMatchObject({ t: { cost: 0 }, a0: { cost: null } });
});
