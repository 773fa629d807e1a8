// biome-ignore-all lint/style/noExcessiveLinesPerFile: one way of beginning runs, and everything that can come in between
import { afterEach, beforeEach, expect, type Mock, onTestFinished, test, vi } from "vitest";
import { until } from "#e2e/until.ts";
import { startAndFollow } from "#server/features/http-trigger/service.ts";
import { createWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { setSettings } from "#server/platform/settings.ts";
import { claimAndExecute, executeRun } from "#server/runs/executor/execute-run.ts";
import { registerWorker } from "#server/runs/local-worker.ts";
import type { EngineServices, RunState } from "#server/runs/ports.ts";
import type { NewExecution } from "#server/runs/store/create.ts";
import { snapshotGraph } from "#server/runs/store/graphs.ts";
import { claimDue, freeLeases } from "#server/runs/store/leases.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { acceptRun, MOMENT_MS } from "#server/runs/use-cases/inline-run.ts";
import { startRun } from "#server/runs/use-cases/start-execution.ts";
import { redispatch } from "#server/runs/worker/dispatch.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let poke: Mock<() => boolean>;
let held: Set<string>;
const position = { x: 0, y: 0 };
const trigger = { id: "t", type: "triggerNode", position, data: { label: "Start" } };
const output = { id: "o", type: "outputNode", position, data: { label: "Out", value: "<{{trigger.output}}>" } };
const branch = { id: "b", type: "branchNode", position, data: { label: "Which", condition: "True" } };
const agent = { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id: "any", retries: 0 } };
const review = { id: "h", type: "humanLoopNode", position, data: { label: "Look" } };
const edge = (source: string, target: string, sourceHandle?: string) => ({
  id: `${source}${target}`,
  source,
  target,
  ...(sourceHandle && { sourceHandle }),
});
const quick = { nodes: [trigger, output], edges: [edge("t", "o")] };
const asking = { nodes: [trigger, branch, output], edges: [edge("t", "b"), edge("b", "o", "true")] };

beforeEach(async () => {
  admin = await database.newAdmin();
  poke = vi.fn(() => true);
});
afterEach(() => {
  vi.restoreAllMocks();
  setSettings({ EXECUTIONS_PER_HOUR: "100", PROJECT_CONCURRENCY: "25" });
});

/** A run loop in this process. */
function engine(own: Partial<EngineServices> = {}): EngineServices {
  const services = storedServices(own);
  const reserve = () => (work: () => Promise<void>) => void work();
  held = new Set();
  onTestFinished(registerWorker(pool(), { services, held, reserve, poke, hasFreeSlot: () => true }));
  return services;
}

async function newRun(graph: Parameters<typeof createWorkflow>[1] extends infer Input ? Partial<Input> : never): Promise<NewExecution> {
  const { id: workflow_id } = await createWorkflow(admin, { name: "Accepted", ...graph });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const ids = { project_id: admin.project.id, workflow_id, snapshot_id, started_by_id: admin.user.id };
  return { ...ids, workflow_version: 1, trigger: "manual", input: "x", params: null, graph: await snapshotGraph(snapshot_id) };
}
const rowOf = (id: string) => db().execution.findUniqueOrThrow({ where: { id } });
/** What a process takes that carries these, of this test's runs. */
const claimOwn = async (held: Iterable<string>) =>
  (await claimDue(100, held)).runs.filter(({ project_id }) => project_id === admin.project.id);
/** What somebody has to look at now. */
const due = async () =>
  (await pool().query<{ id: string }>("SELECT id FROM executions WHERE run_at <= now() AND project_id = $1", [admin.project.id])).rows;

test("a run with a very long result is begun first and written in parts", async () => {
  engine();
  const query = vi.spyOn(pool(), "query");
  const input = "y".repeat(700_000);
  const { execution_id, ending } = await startRun({ ...(await newRun(quick)), input });
  expect(await ending).toEqual({ status: "completed", output: `<${input}>`, error: null });
  const names = query.mock.calls.map(([statement]) => String(Reflect.get(Object(statement), "name")));
  expect(names.filter((name) => name.startsWith("execution-insert"))).toEqual(["execution-insert-begun"]);
  expect(names.filter((name) => name === "run-text-part").length).toBeGreaterThan(1);
  expect((await getExecution(admin, { execution_id })).outputs).toMatchObject([{ value: `<${input}>` }]);
});

test("a run of pure nodes is written once, whole, and the executor is not asked", async () => {
  engine();
  const query = vi.spyOn(pool(), "query");
  const { execution_id, status, ending } = await startRun(await newRun(quick));
  const writes = query.mock.calls.filter(([statement]) => String(Reflect.get(Object(statement), "name")).startsWith("execution-insert"));
  expect(writes).toHaveLength(1);
  expect(status).toBe("pending");
  expect(await ending).toEqual({ status: "completed", output: "<x>", error: null });
  const seen = await getExecution(admin, { execution_id });
  expect(seen).toMatchObject({
    status: "completed",
    output: "<x>",
    error: null,
    node_results: { t: { status: "complete" }, o: { output: "<x>" } },
  });
  expect(seen.duration_ms).toBeGreaterThanOrEqual(0);
  const events = await db().executionEvent.findMany({ where: { execution_id }, orderBy: { seq: "asc" } });
  expect(events.map(({ seq, type }) => [seq, type])).toEqual(
    ["node_start", "node_complete", "node_start", "node_complete", "execution_complete"].map((type, index) => [index + 1, type]),
  );
  expect(await rowOf(execution_id)).toMatchObject({ last_seq: 5, run_at: null, lease_until: null, completed_at: expect.any(Date) });
  expect(await due()).toEqual([]);
  expect(poke).not.toHaveBeenCalled();
});

/** Stops the timer after which a run is written before it has ended, so that a slow machine does not change how it is written. */
function stopMoment(): void {
  const start = globalThis.setTimeout;
  const spy = vi.spyOn(globalThis, "setTimeout");
  spy.mockImplementation(((work: () => void, ms?: number) => start(ms === MOMENT_MS ? () => undefined : work, ms)) as typeof setTimeout);
  onTestFinished(() => spy.mockRestore());
}

test("a condition, though it is another process that says what it comes to, keeps a run in the one statement", async () => {
  const services = engine();
  const { signal } = new AbortController();
  const run = await newRun({
    nodes: [trigger, { ...branch, data: { label: "Which", condition: "output == 'x'" } }, output],
    edges: asking.edges,
  });
  // That process is started by the first condition that there is.
  const variables = { output: "x", trigger_output: "x", node_outputs: {} };
  expect(await services.evaluate("output == 'x'", variables, () => signal, admin.project.id)).toBe(true);
  const query = vi.spyOn(pool(), "query");
  stopMoment();
  const { execution_id, ending } = await startRun(run);
  expect(await ending).toMatchObject({ status: "completed", output: "<x>" });
  const names = query.mock.calls.map(([statement]) => String(Reflect.get(Object(statement), "name")));
  expect(names.filter((name) => /^(execution|run)-/.test(name))).toHaveLength(1);
  expect(await rowOf(execution_id)).toMatchObject({ run_at: null, lease_until: null });
});

test("it fails as any other, and one that asks a person goes to the executor", async () => {
  engine({ evaluate: () => Promise.reject(new Error("no such name")) });
  const failing = await startRun(await newRun(asking));
  expect(await failing.ending).toMatchObject({ status: "failed", error: expect.stringContaining("no such name") });
  expect(await rowOf(failing.execution_id)).toMatchObject({ status: "failed", run_at: null });
  const { execution_id, ending } = await startRun(await newRun({ nodes: [trigger, review], edges: [edge("t", "h")] }));
  expect(ending).toBeUndefined();
  expect(await rowOf(execution_id)).toMatchObject({ status: "pending", lease_until: null });
  expect(await due()).toEqual([{ id: execution_id }]);
  expect(poke).toHaveBeenCalled();
});

test("a run with an agent is accepted with the attempt that it begins, before the agent is called, and ends here", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<{ output: string }>();
  const callAgent = vi.fn(() => answer);
  engine({ callAgent });
  const query = vi.spyOn(pool(), "query");
  const started = await startRun(await newRun({ nodes: [trigger, agent, output], edges: [edge("t", "a"), edge("a", "o")] }));
  const { execution_id } = started;
  const attempt = () => db().nodeRun.findFirst({ where: { execution_id, node_id: "a" } });
  expect(await rowOf(execution_id)).toMatchObject({ status: "running", commit_no: 1, last_seq: 3 });
  expect(await attempt()).toMatchObject({ status: "running", attempt: 1 });
  await until(() => callAgent.mock.calls.length === 1);
  resolve({ output: "said" });
  expect(await started.ending).toMatchObject({ status: "completed", output: "<x>" });
  expect(await attempt()).toMatchObject({ status: "complete", attempt: 1 });
  const events = await db().executionEvent.findMany({ where: { execution_id }, orderBy: { seq: "asc" } });
  expect(events.map(({ seq }) => seq)).toEqual(events.map((_, index) => index + 1));
  expect(await rowOf(execution_id)).toMatchObject({ status: "completed", commit_no: 2, last_seq: events.length, run_at: null });
  expect(await due()).toEqual([]);
  expect(poke).not.toHaveBeenCalled();
  const names = query.mock.calls.map(([statement]) => Reflect.get(Object(statement), "name"));
  expect(names.filter((name) => /^(execution|run)-/.test(String(name)))).toEqual(["execution-insert-first", "run-commit"]);
});

test("a run begins here while its project has places for it and for all that are due; else it is due as well, without a lease to give back", async () => {
  setSettings({ PROJECT_CONCURRENCY: "3" });
  const gate = Promise.withResolvers<{ output: string }>();
  onTestFinished(() => gate.resolve({ output: "said" }));
  engine({ callAgent: () => gate.promise });
  const queued = await startRun(await newRun({ nodes: [trigger, review], edges: [edge("t", "h")] }));
  const run = await newRun({ nodes: [trigger, agent], edges: [edge("t", "a")] });
  for (let place = 1; place <= 2; place++)
    expect(await rowOf((await startRun(run)).execution_id)).toMatchObject({ status: "running", lease_epoch: 1 });
  expect(poke).toHaveBeenCalledTimes(1);
  const query = vi.spyOn(pool(), "query");
  const third = await startRun(run);
  expect(await third.ending).toBeUndefined();
  expect(await rowOf(third.execution_id)).toMatchObject({ status: "pending", lease_owner: null, lease_until: null });
  expect((await due()).map(({ id }) => id).sort()).toEqual([queued.execution_id, third.execution_id].sort());
  expect(poke).toHaveBeenCalledTimes(2);
  expect(query.mock.calls.map(([statement]) => Reflect.get(Object(statement), "name"))).not.toContain("run-release");
  expect(await claimOwn(held)).toHaveLength(1);
});

test("an acceptance whose answer is lost on the way is one: the run goes on, and nobody else is asked", async () => {
  engine();
  const query = pool().query.bind(pool()) as (...args: unknown[]) => Promise<unknown>;
  const cut = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
  vi.spyOn(pool(), "query").mockImplementation((async (...args: unknown[]) => {
    const rows = await query(...args);
    if (String(Reflect.get(Object(args[0]), "name")).startsWith("execution-insert")) throw cut;
    return rows;
  }) as never);
  for (const graph of [quick, { nodes: [trigger, agent], edges: [edge("t", "a")] }]) {
    const { execution_id, ending } = await startRun(await newRun(graph));
    expect(await ending).toMatchObject({ status: "completed" });
    expect(await rowOf(execution_id)).toMatchObject({ status: "completed", lease_epoch: 1 });
  }
  expect(await due()).toEqual([]);
  expect(poke).not.toHaveBeenCalled();
});

test("a lease that ran out during an outage is not taken from whoever still carries the run here", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<{ output: string }>();
  engine({ callAgent: () => answer });
  const { execution_id, ending } = await startRun(await newRun({ nodes: [trigger, agent], edges: [edge("t", "a")] }));
  const past = "now() - interval '1 second'";
  await pool().query(`UPDATE executions SET lease_until = ${past}, run_at = ${past} WHERE id = $1`, [execution_id]);
  expect(await claimOwn(held)).toEqual([]);
  resolve({ output: "said" });
  expect(await ending).toMatchObject({ status: "completed" });
  expect(await rowOf(execution_id)).toMatchObject({ status: "completed", dispatch: 0 });
});

test("a run that is left behind goes on with whoever looks first, although a later request was made", async () => {
  const services = engine({ callAgent: () => new Promise(() => undefined) });
  const { execution_id } = await startRun(await newRun({ nodes: [trigger, agent], edges: [edge("t", "a")] }));
  await freeLeases();
  await redispatch({ execution_id, project_id: admin.project.id, dispatch: 1 });
  const answering = { ...services, callAgent: async () => ({ output: "said" }) };
  expect(await claimAndExecute(answering, execution_id, 60)).toMatchObject({ kind: "over" });
  expect(await rowOf(execution_id)).toMatchObject({ status: "completed", lease_epoch: 2 });
});

test("a caller who waits for a run here is told its end by it, whatever else is told of the run meanwhile", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<{ output: string }>();
  const callAgent = vi.fn(() => answer);
  engine({ callAgent });
  const run = { ...(await newRun({ nodes: [trigger, agent], edges: [edge("t", "a")] })), id: crypto.randomUUID() };
  const query = vi.spyOn(pool(), "query");
  const following = startAndFollow(run, 60_000, new AbortController().signal);
  await until(() => callAgent.mock.calls.length === 1);
  for (let piece = 0; piece < 3; piece++) await pool().query("SELECT pg_notify('treadle_execution', $1)", [run.id]);
  resolve({ output: "said" });
  expect(await following).toMatchObject({ status: "completed", output: "said" });
  expect(query.mock.calls.map(([statement]) => Reflect.get(Object(statement), "name"))).not.toContain("execution-ending");
});

test("while it goes on, a run that began here stays within reach of the sweeper", async () => {
  const { promise: answer, resolve } = Promise.withResolvers<{ output: string }>();
  const { store } = engine({ callAgent: () => answer });
  const { execution_id, ending } = await startRun(await newRun({ nodes: [trigger, agent], edges: [edge("t", "a")] }));
  const { lease_owner } = await rowOf(execution_id);
  // cast: of a run, renewing its lease looks at these alone
  await store.renew({ id: execution_id, holder: lease_owner } as RunState);
  const { lease_until, run_at } = await rowOf(execution_id);
  expect(run_at).toEqual(lease_until);
  resolve({ output: "said" });
  expect(await ending).toMatchObject({ status: "completed" });
});

test("one that takes longer than a moment is accepted under a lease, and goes on here", async () => {
  const gate = Promise.withResolvers<boolean>();
  engine({ evaluate: () => gate.promise });
  const { execution_id, ending } = await startRun(await newRun(asking));
  const row = await rowOf(execution_id);
  expect(row).toMatchObject({ status: "running", completed_at: null, lease_epoch: 1 });
  expect(Number(row.lease_until) - Date.now()).toBeGreaterThan(20_000);
  gate.resolve(true);
  expect(await ending).toMatchObject({ status: "completed", output: "<x>" });
  expect(await rowOf(execution_id)).toMatchObject({ status: "completed", run_at: null });
});

test("when its process dies, it is taken up once the lease has run out, or by the same folder's next process at once", async () => {
  const services = engine({ evaluate: () => new Promise(() => undefined) });
  const { execution_id } = await startRun(await newRun(asking));
  expect(await claimOwn([])).toEqual([]);
  const { lease_until, run_at } = await rowOf(execution_id);
  expect(run_at).toEqual(lease_until);
  await freeLeases();
  const runs = await claimOwn([]); // of the next process, which carries nothing
  expect(runs.map(({ id }) => id)).toEqual([execution_id]);
  const run = await runs[0]?.claim();
  expect(run?.kind === "claimed" && (await executeRun({ ...services, evaluate: () => true }, run.run, 60))).toMatchObject({ kind: "over" });
  expect(await rowOf(execution_id)).toMatchObject({ status: "completed", lease_epoch: 2, crashes: 0 });
});

test("a process that stops accepts what it was sent and leaves it to another", async () => {
  engine({ drain: AbortSignal.abort() });
  const { execution_id, ending } = await startRun(await newRun(quick));
  expect(await ending).toBeUndefined();
  expect(await rowOf(execution_id)).toMatchObject({ status: "pending", lease_until: null });
  expect(await due()).toEqual([{ id: execution_id }]);
  expect(poke).toHaveBeenCalled();
});

test("a result that the database refuses ends the run, not its acceptance", async () => {
  engine();
  const query = pool().query.bind(pool()) as (...args: unknown[]) => Promise<unknown>;
  const refusal = Object.assign(new Error("too much"), { code: "54000" });
  vi.spyOn(pool(), "query").mockImplementation(((...args: unknown[]) =>
    Reflect.get(Object(args[0]), "name") === "execution-insert-whole" ? Promise.reject(refusal) : query(...args)) as never);
  const { execution_id, ending } = await startRun(await newRun(quick));
  expect(await ending).toMatchObject({ status: "failed", error: "A result could not be stored: too much" });
  expect(await rowOf(execution_id)).toMatchObject({ status: "failed" });
});

test("of twenty deliveries with one key one is accepted, and of twenty runs beyond the hour none", async () => {
  engine();
  const run = await newRun(quick);
  const delivery = () => ({ id: crypto.randomUUID(), delivery_key: "same", body: "{}" });
  await db().webhook.create({ data: { workflow_id: run.workflow_id, sealed_secret: "x" } });
  const kinds = async (work: () => Promise<{ kind: string }>) =>
    (await Promise.all(Array.from({ length: 20 }, work))).map(({ kind }) => kind).sort();
  expect(await kinds(() => acceptRun(run, delivery()))).toEqual([...Array(19).fill("repeated"), "started"]);
  setSettings({ EXECUTIONS_PER_HOUR: "3" });
  expect(await kinds(() => acceptRun(run))).toEqual([...Array(18).fill("limited"), ...Array(2).fill("started")]);
  const begun = await db().execution.findMany({ where: { workflow_id: run.workflow_id } });
  expect(begun).toHaveLength(3);
  expect(await db().nodeRun.count({ where: { execution_id: { in: begun.map(({ id }) => id) } } })).toBe(6);
});

test("a request that is repeated under its id finds the run, whose lease stays as it is", async () => {
  const gate = Promise.withResolvers<boolean>();
  engine({ evaluate: () => gate.promise });
  const run = { ...(await newRun(asking)), id: crypto.randomUUID() };
  const first = await startRun(run);
  const before = await rowOf(run.id);
  const again = await startRun(run);
  expect(again).toMatchObject({ execution_id: run.id });
  expect(await rowOf(run.id)).toMatchObject({ lease_owner: before.lease_owner, lease_until: before.lease_until });
  // Nor does the repetition expose it to the sweeper once the lease has run out during an outage.
  const past = "now() - interval '1 second'";
  await pool().query(`UPDATE executions SET lease_until = ${past}, run_at = ${past} WHERE id = $1`, [run.id]);
  expect(await claimOwn(held)).toEqual([]);
  expect(await rowOf(run.id)).toMatchObject({ lease_owner: before.lease_owner, dispatch: 0 });
  gate.resolve(true);
  expect(await first.ending).toMatchObject({ status: "completed" });
});
