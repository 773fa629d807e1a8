import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createWorkflow } from "#server/features/workflows/service.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { LeaseLost, type RunState } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { testDatabase } from "#server/testing/test-database.ts";

// Some writes are not waited for on the disk. A database that is killed may come back without the last of them, while the
// process that made them lives on. Here the row is set back by hand to what it was before.

const database = testDatabase();
let execution_id: string;
const never = new AbortController().signal;
const position = { x: 0, y: 0 };
const told = (node_id: string) => ({ rows: [], events: [{ type: "node_skipped", node_id, timestamp: new Date().toISOString() } as const] });

beforeEach(async () => {
  const admin = await database.newAdmin();
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start" } },
    { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id: "any", retries: 0 } },
  ];
  const edges = [{ id: "1", source: "t", target: "a" }];
  const { id: workflow_id } = await createWorkflow(admin, { name: "Lost", nodes, edges });
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  ({ execution_id } = await startExecution({ ...common, trigger: "manual", input: "x", params: null }));
});

afterEach(() => {
  vi.restoreAllMocks();
});

async function acquired(): Promise<RunState> {
  const result = await runStore.claim(execution_id, 0);
  if (result.kind !== "claimed") throw new Error(`not acquired: ${result.kind}`);
  return result.run;
}

/** Undoes the taking of the lease, as a crash of the database may. */
const undoAcquire = () =>
  pool().query(
    "UPDATE executions SET lease_owner = NULL, lease_epoch = lease_epoch - 1, lease_until = NULL, commit_no = 0, status = 'pending' WHERE id = $1",
    [execution_id],
  );

test("a lease that the database has forgotten does not count, although the next one has the same epoch", async () => {
  const first = await acquired();
  await undoAcquire();
  const second = await acquired();
  expect(second.epoch).toBe(first.epoch);
  await runStore.commit(second, told("t"), never);
  await expect(runStore.commit(first, told("a"), never)).rejects.toThrow(LeaseLost);
  expect(await runStore.renew(first)).toBe(false);
  await runStore.release(first, { kind: "now" });
  await expect(runStore.commit(first, told("a"), never)).rejects.toThrow(LeaseLost);
  await runStore.commit(second, told("a"), never);
  expect(await db().executionEvent.count({ where: { execution_id } })).toBe(2);
});

test("a run whose lease the database has forgotten is taken up again at once, and its call is made once", async () => {
  let calls = 0;
  const services = testServices({
    store: {
      ...runStore,
      async claim(...args) {
        const result = await runStore.claim(...args);
        if (result.kind === "claimed" && result.run.epoch === 1 && calls++ === 0) await undoAcquire();
        return result;
      },
    },
  });
  let made = 0;
  services.callAgent = async () => ({ output: `${++made}` });
  expect(await claimAndExecute(services, execution_id, 60)).toEqual({ kind: "yielded" });
  expect(await claimAndExecute(services, execution_id, 60)).toMatchObject({ kind: "over" });
  expect(made).toBe(1);
  expect(await db().execution.findUniqueOrThrow({ where: { id: execution_id } })).toMatchObject({ status: "completed" });
});

test("a claim whose answer is lost holds the run up for as long as its lease, and the next one goes on with it", async () => {
  const query = pool().query.bind(pool());
  let isLost = false;
  vi.spyOn(pool(), "query").mockImplementation((async (...args: Parameters<typeof query>) => {
    const result = await query(...args);
    if (isLost || Reflect.get(Object(args[0]), "name") !== "run-claim") return result;
    isLost = true;
    throw new Error("Connection terminated unexpectedly");
  }) as typeof query);
  const busy = await runStore.claim(execution_id, 0);
  expect(busy).toEqual({ kind: "busy", seconds: expect.any(Number) });
  expect(busy.kind === "busy" && busy.seconds).toBeGreaterThan(20);
  await pool().query("UPDATE executions SET lease_until = now() - interval '1 millisecond' WHERE id = $1", [execution_id]);
  expect(await acquired()).toMatchObject({ epoch: 2, ledger: [] });
});

test("while an effect is under way every write waits for the disk", async () => {
  const modes: string[] = [];
  const query = pool().query.bind(pool());
  pool().query = ((...args: Parameters<typeof query>) => {
    const [{ name, text, values = [] }] = args as unknown as [{ name?: string; text: string; values?: unknown[] }];
    const position = /\$(\d+)::boolean THEN set_config\('synchronous_commit'/.exec(text)?.[1];
    if (name === "run-commit") modes.push(values[Number(position) - 1] ? "quiet" : "sure");
    return query(...args);
  }) as typeof query;
  try {
    const run = await acquired();
    const row = {
      id: crypto.randomUUID(),
      node_id: "a",
      iteration: "",
      attempt: 1,
      status: "running" as const,
      handle: null,
      output: null,
      error: null,
      started_at: new Date(),
      completed_at: null,
      duration_ms: null,
      input_tokens: 0,
      output_tokens: 0,
      model: null,
      input: null,
      tool_calls: null,
      items: null,
    };
    await runStore.commit(run, told("t"), never);
    await runStore.commit(run, { rows: [row], events: [] }, never);
    await runStore.commit(run, told("t"), never);
    await runStore.commit(run, { rows: [{ ...row, status: "complete" }], events: [] }, never);
    await runStore.commit(run, told("t"), never);
    expect(modes).toEqual(["quiet", "sure", "sure", "sure", "quiet"]);
  } finally {
    pool().query = query;
  }
});
