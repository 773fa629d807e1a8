import { expect, test } from "#e2e/fixtures.ts";
import { AgentReply } from "#server/features/agents/schema.ts";
import { LlmKey } from "#server/features/llm-keys/schema.ts";
import { Usage } from "#server/features/usage/schema.ts";
import { ExecutionLogs, ExecutionPage } from "#server/runs/schema.ts";

// What calls cost: by the LLM key's own prices here, since no list knows the model stand-in.

const input = "one two three";
// 3 words in, and "echo: one two three" out, at 1 and 2 dollars for a million.
const COST = 0.000011;
const prices = [{ model: "ech*", input_per_million: 1, output_per_million: 2 }];
const chain = (agent_id: string) => ({
  nodes: [
    { id: "t", type: "triggerNode", position: { x: 0, y: 0 }, data: { label: "Start", kind: "manual" } },
    { id: "a", type: "agentNode", position: { x: 0, y: 0 }, data: { label: "Ask", agent_id, input } },
  ],
  edges: [{ id: "e", source: "t", target: "a" }],
});

test("a run, its nodes, its log and its project tell what calls cost", async ({ api, agent, llmKey, workflow, executed }) => {
  const key = await llmKey();
  expect(key.prices).toEqual([]);
  const priced = await api.put(`/llm-keys/${key.id}`, { prices }, { schema: LlmKey, status: 200 });
  expect(priced.body).toEqual({ ...key, prices });
  const { id: agent_id, name } = await agent({ model: "echo" });
  const flow = await workflow(chain(agent_id));
  const execution = await executed(flow);
  expect(execution).toMatchObject({ cost: COST, cost_is_partial: false, input_tokens: 3, output_tokens: 4 });
  expect(execution.node_results).toMatchObject({ t: { cost: 0 }, a: { cost: COST } });
  const logs = (await api.get(`/executions/${execution.id}/logs?node_id=a`, { schema: ExecutionLogs })).body;
  expect(logs.items).toMatchObject([{ cost: COST }]);
  expect((await api.get("/executions", { schema: ExecutionPage })).body.items).toMatchObject([{ cost: COST, cost_is_partial: false }]);

  // Without a price the next run's cost is not known; the first one's stays.
  await api.put(`/llm-keys/${key.id}`, { prices: [] }, { status: 200 });
  const second = await executed(flow);
  expect(second).toMatchObject({ cost: null, cost_is_partial: true });
  expect(second.node_results.a?.cost).toBeNull();
  const reply = await api.post(`/agents/${agent_id}/test`, { message: input }, { schema: AgentReply, status: 200 });
  expect(reply.body.cost).toBeNull();

  const usage = async (query: string) => (await api.get(`/usage${query}`, { schema: Usage, status: 200 })).body;
  const byDay = await usage("");
  expect(byDay).toMatchObject({ group_by: "day", currency: "USD", total: { calls: 3, calls_without_price: 2, cost: COST } });
  expect(byDay.items).toHaveLength(30);
  expect(byDay.items.at(-1)).toMatchObject({ key: byDay.to, calls: 3, cost_is_partial: true });
  expect((await usage("?group_by=agent")).items).toMatchObject([{ key: agent_id, name, calls: 3, input_tokens: 9, output_tokens: 12 }]);
  expect((await usage("?group_by=workflow")).items).toMatchObject([
    { key: flow.id, calls: 2, cost: COST },
    { key: null, calls: 1, cost: null },
  ]);
  expect((await usage("?group_by=source")).items.map((item) => [item.key, item.calls])).toEqual([
    ["run", 2],
    ["chat", 1],
  ]);
  expect((await usage("?from=2020-01-01&to=2020-01-31&group_by=model")).items).toEqual([]);
});

test("viewers read usage, of their own project only; prices are for admins", async ({ api, agent, llmKey, newUser, newProject }) => {
  const key = await llmKey();
  const { id } = await agent({ model: "echo" });
  await api.post(`/agents/${id}/test`, { message: input }, { status: 200 });
  const { api: viewer } = await newUser({ role: "viewer" });
  expect((await viewer.get("/usage", { schema: Usage, status: 200 })).body.total.calls).toBe(1);
  await viewer.put(`/llm-keys/${key.id}`, { prices }, { status: 403 });
  const { api: other } = await newProject();
  expect((await other.get("/usage", { schema: Usage, status: 200 })).body.total.calls).toBe(0);
  await other.put(`/llm-keys/${key.id}`, { prices }, { status: 404 });
});

for (const { what, query } of [
  { what: "days in the wrong order", query: "from=2026-02-02&to=2026-02-01" },
  { what: "more than a year", query: "from=2024-01-01&to=2026-01-01" },
  { what: "no day", query: "from=yesterday" },
  { what: "a day that there is not", query: "from=2026-02-30" },
  { what: "another group", query: "group_by=moon" },
])
  test(`usage of ${what} is refused`, async ({ api }) => {
    const { body } = await api.get(`/usage?${query}`, { status: 422 });
    expect(body).toMatchObject({ error_code: "VALIDATION_ERROR", errors: [{ path: query.slice(0, query.indexOf("=")) }] });
  });

for (const { what, body, path } of [
  { what: "two prices of one model", body: { prices: [prices[0], { ...prices[0], model: "ECH*" }] }, path: "prices.1.model" },
  { what: "a price below nothing", body: { prices: [{ ...prices[0], input_per_million: -1 }] }, path: "prices.0.input_per_million" },
  { what: "a price without a model", body: { prices: [{ ...prices[0], model: " " }] }, path: "prices.0.model" },
  { what: "an empty API key", body: { api_key: "" }, path: "api_key" },
])
  test(`${what} is refused`, async ({ api, llmKey }) => {
    const key = await llmKey();
    const answer = await api.put(`/llm-keys/${key.id}`, body, { status: 422 });
    expect(answer.body).toMatchObject({ error_code: "VALIDATION_ERROR", errors: [{ path }] });
    const renamed = await api.put(`/llm-keys/${key.id}`, { ...key, name: "Renamed" }, { schema: LlmKey, status: 200 });
    expect(renamed.body).toEqual({ ...key, name: "Renamed" });
  });
