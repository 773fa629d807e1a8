import { beforeAll, expect, test } from "vitest";
import { chatWithAgent, testAgent } from "#server/features/agents/chat.ts";
import { createAgent } from "#server/features/agents/service.ts";
import { type Hold, hold, settleForgotten } from "#server/features/budgets/holds.ts";
import { PaidMeter } from "#server/features/budgets/meter.ts";
import { nextMonth } from "#server/features/budgets/over-budget.ts";
import { getPrices, setPrices } from "#server/features/budgets/prices.ts";
import type { BudgetInput } from "#server/features/budgets/schema.ts";
import { getBudgets, getSpent, setBudgets } from "#server/features/budgets/service.ts";
import { releaseWaits } from "#server/features/budgets/waits.ts";
import { createRag } from "#server/features/knowledge/service.ts";
import { createLlmKey } from "#server/features/llm-keys/service.ts";
import { listNotifications } from "#server/features/notifications/service.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import { countWaitingReviews, getReview, listReviews } from "#server/features/reviews/read.ts";
import { NO_ONE } from "#server/features/usage/record.ts";
import { getUsage } from "#server/features/usage/service.ts";
import { engineServices } from "#server/jobs/engine-services.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, inTransaction, pool } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { getExecutionLogs } from "#server/runs/use-cases/get-execution-logs.ts";
import type { Role } from "#server/shared/primitives-schema.ts";
import { addMember } from "#server/testing/add-member.ts";
import { agentChain, runChain } from "#server/testing/agent-runs.ts";
import { testModelServer } from "#server/testing/model-server.ts";
import { dyingAfter } from "#server/testing/new-run.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
const models = testModelServer();
beforeAll(() => {
  collectEvents();
});

// The stand-in counts words: "one two three" is 3 tokens in, and "echo: one two three" 4 out. At these prices that is 70 cents.
const PRICES = ["echo", "tool-*"].map((model) => ({ model, input_per_million: 100_000, output_per_million: 100_000 }));
const CALL = 0.7;

async function world() {
  const admin = await database.newAdmin();
  const key = { name: "Main", provider: "openai_compatible", api_key: "test-key-0123456789", base_url: models.url } as const;
  const { id: llm_key_id } = await createLlmKey(admin, { ...key, prices: PRICES });
  const agent = async (name: string, model = "echo", more: object = {}) =>
    (await createAgent(admin, { name, model, llm_key_id, max_tokens: 4, ...more })).id;
  const limit = (monthly_limit: number, more: Partial<BudgetInput> = {}) =>
    setBudgets(admin, { items: [{ scope: "project", action: "pause", monthly_limit, ...more }] });
  const spent = async () => (await getBudgets(admin)).items.map((budget) => budget.spent);
  return { admin, llm_key_id, agent, limit, spent };
}

const asked = (model: string) => models.calls({ model }).filter(({ message }) => message !== "Reply with OK.").length;
async function member(admin: ProjectPrincipal, role: Role): Promise<ProjectPrincipal> {
  const { user } = await database.newAdmin();
  await addMember(admin, user, role);
  return { ...admin, user, role };
}
const go = (id: string) => claimAndExecute(engineServices, id, 1e6);
const waitsOf = (execution_id: string) => db().wait.findMany({ where: { execution_id }, orderBy: { id: "asc" } });

test("of many calls at once as many begin as the limit has room for, whichever of the budgets is the narrowest", async () => {
  const { admin, llm_key_id, agent, spent } = await world();
  const agent_id = await agent("One");
  await setBudgets(admin, {
    items: [
      { scope: "project", monthly_limit: 100, action: "stop" },
      { scope: "agent", id: agent_id, monthly_limit: 10, action: "stop" },
      { scope: "llm_key", id: llm_key_id, monthly_limit: 50, action: "pause" },
    ],
  });
  const payer = { project_id: admin.project.id, agent_id, llm_key_id };
  const results = await Promise.all(Array.from({ length: 20 }, () => hold(payer, 1)));
  const held = results.filter((result): result is Hold => result !== undefined && !Array.isArray(result));
  expect(held).toHaveLength(10);
  expect(results.find(Array.isArray)).toMatchObject([{ scope: "agent", name: "One", monthly_limit: 10, spent: 0, held: 10 }]);
  // Those that were refused hold nothing anywhere; those that end make room, as far as they cost less than was held.
  await Promise.all(held.map(({ settle }) => settle(0.5)));
  expect(await spent()).toEqual([5, 5, 5]);
  const { rows } = await pool().query("SELECT held::float8 FROM budgets WHERE project_id = $1", [admin.project.id]);
  expect(rows).toEqual([{ held: 0 }, { held: 0 }, { held: 0 }]);
  const later = await Promise.all(Array.from({ length: 20 }, () => hold(payer, 1)));
  expect(later.filter(Array.isArray)).toHaveLength(15);
  // Another agent with another key is asked for the project's budget only.
  const other = { project_id: admin.project.id, agent_id: NO_ONE, llm_key_id: NO_ONE };
  expect(await hold(other, 1)).toHaveProperty("settle");
});

test("budgets can be set while a call is counted in them: neither waits for the other", async () => {
  const { admin, agent, limit } = await world();
  const project = { scope: "project", action: "pause", monthly_limit: 5 } as const;
  await setBudgets(admin, { items: [project, { scope: "agent", id: await agent("One"), action: "pause", monthly_limit: 5 }] });
  const { rows } = await pool().query("SELECT id FROM budgets WHERE project_id = $1 ORDER BY id", [admin.project.id]);
  const lock = "SELECT FROM budgets WHERE id = $1 FOR UPDATE";
  await inTransaction(async (call) => {
    await call.query(lock, [rows[0]?.id]);
    // Takes the second away and changes the first.
    const saving = asOtherCaller(() => limit(6));
    const waits = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%budgets%'";
    await expect.poll(async () => (await asOtherCaller(() => pool().query(waits))).rowCount, { interval: 10 }).toBe(1);
    await call.query(lock, [rows[1]?.id]);
    return { saving };
  }).then(({ saving }) => saving);
  expect((await getBudgets(admin)).items).toMatchObject([{ scope: "project", monthly_limit: 6 }]);
});

test("agents that run side by side exceed a limit by one call at most", async () => {
  const { admin, agent, limit, spent } = await world();
  await limit(5, { action: "stop" });
  const id = await agent("One");
  const { nodes, edges } = agentChain(
    Array.from({ length: 20 }, () => id),
    { on_error: "continue" },
  );
  const side = edges.map((edge) => ({ ...edge, source: "t" }));
  const execution_id = await runChain(admin, { nodes, edges: side });
  const [total = 0] = await spent();
  expect(total).toBeGreaterThan(4);
  expect(total).toBeLessThan(5 + CALL);
  expect(asked("echo")).toBe(Math.round(total / CALL));
  const { node_results } = await getExecution(admin, { execution_id });
  expect(Object.values(node_results).filter(({ error }) => error?.includes("The budget of this project is used up"))).toHaveLength(
    20 - asked("echo"),
  );
});

test("a budget that stops fails the node with who can do what; what is tried or chatted with says the same", async () => {
  const { admin, agent, limit } = await world();
  const id = await agent("One");
  await limit(0.5, { action: "stop" });
  const { status, error } = await getExecution(admin, { execution_id: await runChain(admin, agentChain([id, id])) });
  const reset = nextMonth(new Date()).toISOString().slice(0, 10);
  const said = `The budget of this project is used up: $0.70 of $0.50 spent this month. It begins anew on ${reset} (UTC); an admin of the project can raise it in Settings, Budgets.`;
  expect([status, error]).toEqual(["failed", `Ask 1: ${said}`]);
  await expect(testAgent(admin, { agent_id: id, message: "one" })).rejects.toMatchObject({ code: "CONFLICT", message: said });
  expect(asked("echo")).toBe(1);
});

test("a run waits at the limit, an admin lets it spend more, and it goes on without repeating what was done", async () => {
  const { admin, agent, limit, spent } = await world();
  const id = await agent("One");
  await limit(0.5);
  const execution_id = await runChain(admin, agentChain([id, id, id]));
  expect((await getExecution(admin, { execution_id })).status).toBe("paused");
  const [wait] = await waitsOf(execution_id);
  expect(wait).toMatchObject({ reason: "budget", node_id: "a1", status: "waiting", title: "Spend more than the budget?" });
  expect(wait?.description).toContain("$0.70 of $0.50");
  const editor = await member(admin, "editor");
  const approve = (who: typeof admin, amount?: number) => approveExecution(who, { execution_id, decision: "approved", amount });
  const { items } = await listReviews(editor, { page: 1, per_page: 5, status: "waiting" });
  expect(items).toMatchObject([{ id: wait?.id, kind: "budget", may_decide: false, budget: null }]);
  expect([await countWaitingReviews(editor), await countWaitingReviews(admin)]).toEqual([{ count: 0 }, { count: 1 }]);
  const review = await getReview(admin, { review_id: wait?.id ?? "" });
  expect(review).toMatchObject({ kind: "budget", may_decide: true, rejection_continues: true });
  expect(review.budget).toMatchObject({ run_spent: 0.7, budgets: [{ scope: "project", spent: 0.7, monthly_limit: 0.5, action: "pause" }] });
  await expect(approve(editor, 1)).rejects.toMatchObject({ code: "PERMISSION_DENIED" });
  await expect(approve(admin)).rejects.toMatchObject({ code: "VALIDATION_ERROR", errors: [{ path: "amount" }] });
  // Enough for one more call, and for one that begins while some of it is left.
  await approve(admin, 0.1);
  await expect(approve(admin, 0.1)).rejects.toMatchObject({ code: "CONFLICT" });
  expect(await go(execution_id)).toMatchObject({ kind: "waiting" });
  expect(asked("echo")).toBe(2);
  const [, second] = await waitsOf(execution_id);
  expect(second).toMatchObject({ node_id: "a2", status: "waiting" });
  await approveExecution(admin, { execution_id, decision: "rejected", comment: "That will do" });
  expect(await go(execution_id)).toMatchObject({ kind: "over" });
  expect(await getExecution(admin, { execution_id })).toMatchObject({
    status: "failed",
    error: "Ask 2: A budget is used up, and an admin did not allow this run to spend more: That will do",
    cost: 1.4,
  });
  expect(await spent()).toEqual([1.4]);
  expect((await getUsage(admin, { group_by: "agent" })).total).toMatchObject({ calls: 2, cost: 1.4 });
  const audited = await db().auditEntry.findMany({ where: { project_id: admin.project.id, action: { startsWith: "budget." } } });
  expect(audited).toHaveLength(1);
  const decided = await db().auditEntry.findMany({
    where: { project_id: admin.project.id, resource_type: "review" },
    orderBy: { id: "asc" },
  });
  expect(decided.map(({ action, detail }) => [action, (detail as { amount?: number }).amount])).toEqual([
    ["review.approve", 0.1],
    ["review.reject", undefined],
  ]);
});

test("what a run is allowed to spend is not taken from a budget that stops", async () => {
  const { admin, agent } = await world();
  const id = await agent("One");
  await setBudgets(admin, {
    items: [
      { scope: "project", monthly_limit: 1, action: "stop" },
      { scope: "agent", id, monthly_limit: 0.5, action: "pause" },
    ],
  });
  const execution_id = await runChain(admin, agentChain([id, id, id]));
  await approveExecution(admin, { execution_id, decision: "approved", amount: 100 });
  expect(await go(execution_id)).toMatchObject({ kind: "over" });
  expect((await getExecution(admin, { execution_id })).error).toContain("The budget of this project is used up: $1.40 of $1.00");
});

test("an agent that is stopped between two calls goes on from there, also when its process dies after it may", async () => {
  const { admin, agent, limit } = await world();
  const rag = await createRag(admin, { name: "Shelf", type: "documents", config: {} });
  const model = "tool-search_knowledge";
  const id = await agent("Seeker", model, { rag_ids: [rag.id], max_tokens: 40 });
  await limit(0.1);
  const execution_id = await runChain(admin, agentChain([id]));
  expect(asked(model)).toBe(1);
  expect((await getExecution(admin, { execution_id })).status).toBe("paused");
  await approveExecution(admin, { execution_id, decision: "approved", amount: 5 });
  // It dies when it has written down that it goes on, before the model is asked.
  const store = dyingAfter(engineServices.store, ({ rows }) => rows.some(({ status }) => status === "running"));
  await expect(claimAndExecute({ ...engineServices, store }, execution_id, 1e6)).rejects.toThrow("killed");
  await pool().query("UPDATE executions SET lease_until = NULL WHERE id = $1", [execution_id]);
  expect(await go(execution_id)).toMatchObject({ kind: "over" });
  const execution = await getExecution(admin, { execution_id });
  expect(execution.status).toBe("completed");
  expect(execution.output).toContain("The tool said:");
  expect(asked(model)).toBe(2);
  const { items } = await getExecutionLogs(admin, { execution_id, node_id: "a0" });
  expect(items.map(({ attempt, status }) => [attempt, status])).toEqual([
    [1, "failed"],
    [2, "failed"],
    [3, "complete"],
  ]);
  expect(items[0]?.tool_calls).toMatchObject([{ name: "search_knowledge", success: true }]);
  expect(execution.cost).toBeCloseTo(
    items.reduce((sum, { cost }) => sum + (cost ?? 0), 0),
    9,
  );
  const { total } = await getUsage(admin, { group_by: "model" });
  expect(total).toMatchObject({ calls: 2, cost: execution.cost, input_tokens: execution.input_tokens });
});

test("runs go on by themselves when the budget is raised, when a month begins, and no longer wait once they are cancelled", async () => {
  const { admin, agent, limit } = await world();
  const id = await agent("One");
  await limit(0.5);
  const runs = [
    await runChain(admin, agentChain([id, id])),
    await runChain(admin, agentChain([id])),
    await runChain(admin, agentChain([id])),
  ];
  const states = async () => (await Promise.all(runs.map(waitsOf))).map((waits) => waits.at(-1)?.status);
  expect(await states()).toEqual(["waiting", "waiting", "waiting"]);
  await releaseWaits();
  expect(await states()).toEqual(["waiting", "waiting", "waiting"]);
  await cancelExecution(admin, { execution_id: runs[2] ?? "" });
  expect(await states()).toEqual(["waiting", "waiting", "withdrawn"]);
  await limit(1);
  expect(await states()).toEqual(["resolved", "resolved", "withdrawn"]);
  expect(await go(runs[0] ?? "")).toMatchObject({ kind: "over" });
  // The other finds what the first has left, and waits anew.
  expect(await go(runs[1] ?? "")).toMatchObject({ kind: "waiting" });
  const [released] = await waitsOf(runs[0] ?? "");
  expect(released).toMatchObject({ via: "budget", reviewer_id: null, outcome: { decision: "approved", amount: null } });
  const next = nextMonth(new Date());
  await pool().query("UPDATE waits SET deadline = deadline + interval '40 days' WHERE reason = 'budget'");
  await releaseWaits(null, next);
  expect(await states()).toEqual(["resolved", "resolved", "withdrawn"]);
  expect((await getBudgets(admin, next)).items).toMatchObject([{ spent: 0, resets_at: nextMonth(next).toISOString() }]);
  const [first] = (await getBudgets(admin)).items;
  expect(first).toMatchObject({ spent: 1.4, resets_at: next.toISOString() });
  const held = await hold({ project_id: admin.project.id, agent_id: NO_ONE, llm_key_id: NO_ONE }, 1, next);
  expect(held).toHaveProperty("settle");
});

test("admins are told at four fifths and at the limit, once each; nobody else is", async () => {
  const { admin, agent, limit } = await world();
  const editor = await member(admin, "editor");
  const id = await agent("One");
  await limit(1.7, { action: "stop" });
  const told = async (who = admin) =>
    (await listNotifications(who, { page: 1, per_page: 10 })).items.filter(({ kind }) => kind === "budget").map(({ title }) => title);
  const ask = () => testAgent(admin, { agent_id: id, message: "one two three" }).catch(() => undefined);
  await ask();
  expect(await told()).toEqual([]);
  await ask();
  const first = "The budget of this project is spent to 80 % ($1.40 of $1.70 this month)";
  expect(await told()).toEqual([first]);
  await ask();
  await ask();
  const second = "The budget of this project is used up ($2.10 of $1.70 this month): runs stop at their next call of a model";
  expect((await told()).sort()).toEqual([first, second].sort());
  expect(await told(editor)).toEqual([]);
});

test("a new budget begins with what the month has cost, of the project, an agent or a key; what is not priced counts as nothing", async () => {
  const { admin, llm_key_id, agent } = await world();
  const [one, two, free] = [await agent("One"), await agent("Two"), await agent("Free", "parrot")];
  await runChain(admin, agentChain([one, one, two, free]));
  expect(await getSpent(admin, { scope: "agent", ids: [one] })).toEqual({ items: [{ id: one, spent: 1.4, monthly_limit: null }] });
  const items: BudgetInput[] = [
    { scope: "project", monthly_limit: 50, action: "pause" },
    { scope: "agent", id: one, monthly_limit: 20, action: "stop" },
    { scope: "llm_key", id: llm_key_id, monthly_limit: 30, action: "pause" },
  ];
  const { items: set } = await setBudgets(admin, { items });
  expect(set.map(({ scope, name, spent }) => [scope, name, spent])).toEqual([
    ["project", admin.project.name, 2.1],
    ["agent", "One", 1.4],
    ["llm_key", "Main", 2.1],
  ]);
  expect(await getSpent(admin, { scope: "llm_key", ids: [llm_key_id] })).toMatchObject({ items: [{ spent: 2.1, monthly_limit: 30 }] });
  // What is read can be sent back as it is.
  expect((await setBudgets(admin, { items: set })).items).toEqual(set);
  const stranger = await world();
  for (const items of [
    [{ scope: "agent", id: await stranger.agent("Theirs"), monthly_limit: 1, action: "stop" }],
    [{ scope: "agent", monthly_limit: 1, action: "stop" }],
    [{ scope: "project", id: one, monthly_limit: 1, action: "stop" }],
    [
      { scope: "project", monthly_limit: 1, action: "stop" },
      { scope: "project", monthly_limit: 2, action: "stop" },
    ],
  ] satisfies BudgetInput[][])
    await expect(setBudgets(admin, { items })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  expect(await getSpent(stranger.admin, { scope: "agent", ids: [one] })).toEqual({ items: [] });
  expect((await getBudgets(stranger.admin)).items).toEqual([]);
  expect((await setBudgets(admin, { items: [] })).items).toEqual([]);
});

test("a call that is cut off counts as it was estimated: or who hangs up in time would never pay", async () => {
  const { admin, agent, limit, spent } = await world();
  await limit(100);
  const price = { provider: "openai_compatible" as const, input_per_million: 0, output_per_million: 100_000, llm_key_id: null };
  await setPrices(admin, { items: [{ ...price, model: "gate-*" }] });
  const gone = new AbortController();
  const talk = { agent_id: await agent("One", "gate-hang-up"), message: "one two three", history: [] };
  const asking = chatWithAgent(admin, talk, { signal: gone.signal, tell: () => gone.abort(new Error("gone")) });
  await expect(asking).rejects.toThrow("gone");
  expect(await spent()).toEqual([0.4]);
});

test("of a service that tells no tokens a call counts as estimated, where its price is known", async () => {
  const { admin, llm_key_id, limit, spent } = await world();
  await limit(100);
  const payer = { project_id: admin.project.id, agent_id: NO_ONE, llm_key_id };
  const ask = async (model: string) => {
    const place = { provider: "openai_compatible" as const, model, baseUrl: models.url, prices: PRICES };
    const end = await new PaidMeter(payer, place, () => {}).begin({ messages: [{ role: "user", content: "four" }], max_tokens: 4 });
    await end({ input_tokens: 0, output_tokens: 0 });
  };
  await ask("parrot");
  expect(await spent()).toEqual([0]);
  await ask("echo");
  expect(await spent()).toEqual([0.5]);
});

test("a call whose process died counts as it was estimated", async () => {
  const { admin, limit, spent } = await world();
  await limit(10);
  await hold({ project_id: admin.project.id, agent_id: NO_ONE, llm_key_id: NO_ONE }, 3);
  await settleForgotten();
  expect(await spent()).toEqual([0]);
  await settleForgotten(new Date(Date.now() + 86_400_000));
  expect(await spent()).toEqual([3]);
});

test("the project's prices count after a key's own and before the list, for later calls", async () => {
  const { admin, llm_key_id, agent, limit, spent } = await world();
  const id = await agent("Priced", "parrot");
  const chain = () => runChain(admin, agentChain([id]));
  const costOf = async (execution_id: string) => (await getExecution(admin, { execution_id })).cost;
  await limit(1);
  const before = await chain();
  expect(await costOf(before)).toBeNull();
  const { items } = await getPrices(admin);
  expect(items.map(({ model, llm_key_id }) => [model, llm_key_id])).toEqual(PRICES.map(({ model }) => [model, llm_key_id]));
  const parrot = { provider: "openai_compatible" as const, model: "parr*", input_per_million: 1000, output_per_million: 0 };
  const set = await setPrices(admin, { items: [...items, { ...parrot, llm_key_id: null }] });
  expect(set.items).toHaveLength(3);
  expect(set.built_in.items.length).toBeGreaterThan(50);
  expect(await costOf(await chain())).toBe(0.003);
  await setPrices(admin, {
    items: [
      { ...parrot, llm_key_id: null },
      { ...parrot, model: "parrot", input_per_million: 0, llm_key_id },
    ],
  });
  expect(await costOf(await chain())).toBe(0);
  expect(await costOf(before)).toBeNull();
  expect(await spent()).toEqual([0.003]);
  // What is known to be free is asked also when nothing is left.
  await pool().query("UPDATE budgets SET spent = 2 WHERE project_id = $1", [admin.project.id]);
  expect(await costOf(await chain())).toBe(0);
  const { llm_key_id: theirs } = await world();
  await expect(setPrices(admin, { items: [{ ...parrot, llm_key_id: theirs }] })).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await expect(setPrices(admin, { items: [{ ...parrot, provider: "openai", llm_key_id }] })).rejects.toMatchObject({
    code: "VALIDATION_ERROR",
  });
});
