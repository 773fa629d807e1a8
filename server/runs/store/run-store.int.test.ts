import { beforeEach, expect, test } from "vitest";
import { closeProject } from "#server/features/projects/delete.ts";
import { saveDraft } from "#server/features/workflows/draft.ts";
import { createWorkflow, getWorkflow, updateWorkflow } from "#server/features/workflows/service.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool, withClient } from "#server/platform/db/client.ts";
import { asOtherCaller } from "#server/platform/db/held-connection.ts";
import { subscribe } from "#server/platform/db/notify.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { LeaseLost, type LedgerWrite, type RunState } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { startExecution } from "#server/runs/use-cases/start-execution.ts";
import { redispatch } from "#server/runs/worker/dispatch.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
let workflow_id: string;
let execution_id: string;
const never = new AbortController().signal;
const position = { x: 0, y: 0 };

beforeEach(async () => {
  admin = await database.newAdmin();
  const nodes = [
    { id: "t", type: "triggerNode", position, data: { label: "Start" } },
    { id: "a", type: "agentNode", position, data: { label: "Ask", agent_id: "gone", retries: 0 } },
    { id: "o", type: "outputNode", position, data: { label: "Out", value: "{{Ask.output.deep}}" } },
  ];
  const edges = [
    { id: "1", source: "t", target: "a" },
    { id: "2", source: "a", target: "o" },
  ];
  const workflow = await createWorkflow(admin, { name: "Stored", nodes, edges });
  workflow_id = workflow.id;
  await begin();
});

/** Starts a run that nobody executes yet. */
async function begin(): Promise<void> {
  const { snapshot_id } = await db().workflow.findUniqueOrThrow({ where: { id: workflow_id } });
  const common = { project_id: admin.project.id, workflow_id, workflow_version: 1, snapshot_id, started_by_id: admin.user.id };
  ({ execution_id } = await startExecution({ ...common, trigger: "manual", input: "x", params: null }));
}

async function acquired(): Promise<RunState> {
  const result = await runStore.claim(execution_id, 0);
  if (result.kind !== "claimed") throw new Error(`not acquired: ${result.kind}`);
  return result.run;
}

const row = (node_id: string, output: string): LedgerWrite => ({
  id: crypto.randomUUID(),
  node_id,
  iteration: "",
  attempt: 1,
  status: "complete",
  handle: null,
  output,
  error: null,
  started_at: new Date(),
  completed_at: new Date(),
  duration_ms: 1,
  input_tokens: 3,
  output_tokens: 4,
  model: null,
  input: null,
  tool_calls: null,
  items: null,
});
const told = (node_id: string) => ({ type: "node_skipped", node_id, timestamp: new Date().toISOString() }) as const;
const eventTypes = async () =>
  (await db().executionEvent.findMany({ where: { execution_id }, orderBy: { seq: "asc" } })).map(({ seq, type }) => `${seq} ${type}`);

test("one process at a time: a second one is told for how long, and a lost lease writes nothing", async () => {
  const first = await acquired();
  expect(await runStore.claim(execution_id, 0)).toMatchObject({
    kind: "busy",
    seconds: expect.toSatisfy((seconds: number) => seconds > 25 && seconds <= 30),
  });
  await pool().query("UPDATE executions SET lease_until = now() - interval '1 second' WHERE id = $1", [execution_id]);
  const second = await acquired();
  expect(second.epoch).toBe(first.epoch + 1);
  await expect(runStore.commit(first, { rows: [row("t", "stale")], events: [told("t")] }, never)).rejects.toThrow(LeaseLost);
  expect(await runStore.renew(first)).toBe(false);
  expect(await eventTypes()).toEqual([]);
  await runStore.commit(second, { rows: [row("t", "fresh")], events: [told("t")] }, never);
  expect((await getExecution(admin, { execution_id })).node_results.t?.output).toBe("fresh");
});

test("a write that is repeated because its answer was lost counts once", async () => {
  const run = await acquired();
  const commit = { rows: [row("t", "once")], events: [told("t")] };
  await runStore.commit(run, commit, never);
  run.commits -= 1; // as if the first answer had never come
  await runStore.commit(run, commit, never);
  expect(await eventTypes()).toEqual(["1 node_skipped"]);
  const { input_tokens, output_tokens } = await getExecution(admin, { execution_id });
  expect([input_tokens, output_tokens]).toEqual([3, 4]);
  await runStore.commit(run, { rows: [], events: [told("o")] }, never);
  expect(await eventTypes()).toEqual(["1 node_skipped", "2 node_skipped"]);
});

test("text that PostgreSQL cannot keep is stored without what it cannot keep", async () => {
  const run = await acquired();
  await runStore.commit(run, { rows: [row("t", "half \ud83d, nul \u0000\u0000, text \\u0000, whole 😀")], events: [] }, never);
  expect((await getExecution(admin, { execution_id })).node_results.t?.output).toBe("half \ufffd, nul , text \\u0000, whole 😀");
});

test("an error that quotes the middle of an emoji ends the run instead of repeating the call", async () => {
  let calls = 0;
  const services = testServices(
    { store: runStore },
    {
      callAgent: async () => {
        calls += 1;
        return { output: `${"x".repeat(79)}😀 is not JSON` };
      },
    },
  );
  expect(await claimAndExecute(services, execution_id, 60)).toMatchObject({ kind: "over" });
  expect(calls).toBe(1);
  expect(await getExecution(admin, { execution_id })).toMatchObject({
    status: "failed",
    error: expect.stringContaining("text that is not JSON"),
  });
});

test("pieces of an answer are numbered with the rest and gone when their node completes", async () => {
  const run = await acquired();
  await runStore.deltas(run, [{ type: "node_delta", node_id: "a", content: "Hel", timestamp: new Date().toISOString() }]);
  expect(await eventTypes()).toEqual(["1 node_delta"]);
  await runStore.commit(run, { rows: [row("a", "Hello")], events: [told("a")] }, never);
  expect(await eventTypes()).toEqual(["2 node_skipped"]);
});

test("a cancelled run takes no more writes, and tells whoever carries it", async () => {
  const run = await acquired();
  const control = Promise.withResolvers<void>();
  const stop = await runStore.onControl(execution_id, control.resolve);
  expect((await cancelExecution(admin, { execution_id })).status).toBe("cancelled");
  await control.promise;
  stop();
  await expect(runStore.commit(run, { rows: [row("t", "late")], events: [] }, never)).rejects.toThrow(LeaseLost);
  expect(await runStore.claim(execution_id, 0)).toMatchObject({ kind: "over" });
});

const wait = { node_id: "a", iteration: "", reason: "review", label: "Look", deadline: null } as const;

test("however a run is cancelled, its open nodes, waits and stream end with it, and whoever executes it has lost it", async () => {
  const stopEach = {
    alone: () => cancelExecution(admin, { execution_id }),
    "with its project": () => db().$transaction((tx) => closeProject(tx, admin.project.id)),
  };
  for (const stop of Object.values(stopEach)) {
    const run = await acquired();
    const open = [{ ...row("t", "done") }, { ...row("a", ""), status: "waiting" as const, completed_at: null, output: null }];
    await runStore.commit(run, { rows: open, events: [told("t")], waits: [{ ...wait, id: open[1]?.id ?? "" }] }, never);
    await runStore.deltas(run, [{ type: "node_delta", node_id: "a", content: "x", timestamp: new Date().toISOString() }]);
    await stop();
    await expect(runStore.commit(run, { rows: [row("o", "late")], events: [] }, never)).rejects.toThrow(LeaseLost);
    const where = { where: { execution_id } };
    expect(await db().nodeRun.findMany({ ...where, orderBy: { node_id: "asc" }, select: { node_id: true, status: true } })).toEqual([
      { node_id: "a", status: "skipped" },
      { node_id: "t", status: "complete" },
    ]);
    expect(await db().wait.findMany({ ...where, select: { status: true } })).toEqual([{ status: "withdrawn" }]);
    const events = await db().executionEvent.findMany({ ...where, orderBy: { seq: "asc" }, skip: 1 });
    const { last_seq } = await db().execution.findUniqueOrThrow({ where: { id: execution_id }, select: { last_seq: true } });
    expect(events.at(-1)).toMatchObject({
      seq: last_seq,
      data: { type: "execution_complete", status: "cancelled", output: null, execution_id, duration_ms: expect.any(Number) },
    });
    // Of a project that is gone nobody hears of what was not reached.
    expect(events.map(({ type, node_id }) => `${type} ${node_id}`)).toEqual([
      "node_skipped a",
      ...(stop === stopEach.alone ? ["node_skipped o"] : []),
      "execution_complete null",
    ]);
    if (stop === stopEach.alone) await begin();
  }
});

test("the line for notifications comes back after an outage, once, and everybody looks again", async () => {
  const LISTENERS = "SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'";
  let heard = Promise.withResolvers<void>();
  const stop = await subscribe("treadle_execution", execution_id, () => heard.resolve());
  const { rows } = await pool().query<{ pid: number }>(LISTENERS);
  expect(rows).toHaveLength(1);
  await pool().query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
  await heard.promise;
  heard = Promise.withResolvers();
  await pool().query("SELECT pg_notify('treadle_execution', $1)", [execution_id]);
  await heard.promise;
  expect((await pool().query(LISTENERS)).rows).toHaveLength(1);
  stop();
});

test("an older request claims a run until a newer one has claimed it", async () => {
  await redispatch({ execution_id, project_id: admin.project.id, dispatch: 3 });
  const run = await acquired(); // asks with dispatch 0
  await runStore.release(run, { kind: "now" });
  const second = await runStore.claim(execution_id, 0);
  expect(second.kind).toBe("claimed");
  if (second.kind === "claimed") await runStore.release(second.run, { kind: "now" });
  expect((await runStore.claim(execution_id, 3)).kind).toBe("claimed");
  expect(await runStore.claim(execution_id, 0)).toMatchObject({ kind: "over" });
});

test("a connection that the server ends fails its own work only", async () => {
  const doomed = withClient(async (client) => {
    const { rows } = await client.query<{ pid: number }>("SELECT pg_backend_pid() AS pid");
    const end = () => pool().query("SELECT pg_terminate_backend($1)", [rows[0]?.pid]);
    await Promise.all([client.query("SELECT pg_sleep(30)"), asOtherCaller(end)]);
  });
  await expect(doomed).rejects.toThrow(/terminat/);
  expect((await pool().query("SELECT 1 AS one")).rows).toEqual([{ one: 1 }]);
});

test("autosaves and saves of one workflow at once do not lock each other out", async () => {
  const { workflow_id } = await db().execution.findUniqueOrThrow({ where: { id: execution_id } });
  const { nodes, edges } = await getWorkflow(admin, { workflow_id });
  const draft = () => db().workflowDraft.findUniqueOrThrow({ where: { workflow_id } });
  for (let round = 0; round < 10; round++) {
    const { revision } = await draft();
    const [saved, autosaved] = await Promise.allSettled([
      updateWorkflow(admin, { workflow_id, nodes, edges }),
      saveDraft(admin, { workflow_id, nodes, edges, revision }),
    ]);
    expect(saved.status).toBe("fulfilled");
    // The autosave is either before the save, or told that the draft has moved on.
    if (autosaved.status === "rejected") expect(autosaved.reason).toMatchObject({ code: "CONFLICT" });
  }
});
