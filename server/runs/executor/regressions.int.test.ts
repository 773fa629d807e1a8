import { beforeAll, expect, test } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { EngineServices, RunState, RunStore } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { collectEvents } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";

const database = testDatabase();
let admin: ProjectPrincipal;
beforeAll(async () => {
  admin = await database.newAdmin();
  collectEvents();
});

const start = (nodes: Golden["nodes"], edges: string[]) => startStoredRun(admin, graphOf({ nodes, edges }));
const go = (id: string, own: Partial<EngineServices> = {}) => claimAndExecute(storedServices(own), id, 60);
const ageRun = (id: string) =>
  pool().query("UPDATE node_runs SET started_at = started_at - interval '30 days' WHERE execution_id = $1", [id]);

const reviewed: [Golden["nodes"], string[]] = [{ t: ["triggerNode"], r: ["humanLoopNode"], z: ["outputNode"] }, ["t>r", "r.approved>z"]];

test("a review approved after 30 days lets its run go on", async () => {
  const id = await start(...reviewed);
  await go(id);
  await ageRun(id);
  await approveExecution(admin, { execution_id: id, decision: "approved" });
  await go(id);
  const run = await getExecution(admin, { execution_id: id });
  expect(run.status).toBe("completed");
});

test("a run that has waited for 30 days can be cancelled", async () => {
  const id = await start(...reviewed);
  await go(id);
  await ageRun(id);
  expect((await cancelExecution(admin, { execution_id: id })).status).toBe("cancelled");
});

test("nothing is left running after a run that could not be stored", async () => {
  const id = await start({ t: ["triggerNode"], a: ["agentNode"], r: ["humanLoopNode"], b: ["agentNode"] }, ["t>a", "t>r", "t>b"]);
  await go(id, {
    callAgent: async ({ agent_id, signal }) => {
      if (agent_id === "b") return await new Promise((_, no) => signal.addEventListener("abort", () => no(signal.reason)));
      return { output: "x", input_tokens: 3_000_000_000 };
    },
  });
  expect((await getExecution(admin, { execution_id: id })).status).toBe("failed");
  const rows = await db().nodeRun.findMany({ where: { execution_id: id }, select: { node_id: true, status: true } });
  expect(rows.filter((row) => row.status === "running" || row.status === "waiting")).toEqual([]);
});

test("a rerun of a run that a Terminate ended runs from its node", async () => {
  const id = await start({ t: ["triggerNode"], a: ["outputNode"], x: ["terminateNode", { message: "stop" }], b: ["humanLoopNode"] }, [
    "t>a",
    "a>x",
    "t>b",
  ]);
  await go(id);
  const again = await rerunExecution(admin, { execution_id: id, from_node_id: "b", use_current: false });
  await go(again.execution_id);
  const run = await getExecution(admin, { execution_id: again.execution_id });
  expect(run.node_results.b?.status).toBe("waiting");
});

// Without a clock: both took minutes, and a test may take half of one.
test("a rerun takes over a loop of very many items, and what has run of such a loop is read", async () => {
  const count = 40_000;
  const id = await start({ t: ["triggerNode"], l: ["loopNode", { items_expression: "[]" }], o: ["outputNode"], d: ["outputNode"] }, [
    "t>l",
    "l.body>o",
    "l.done>d",
  ]);
  await go(id);
  // As such a loop leaves them.
  await pool().query(
    `WITH runs AS (
       INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, started_at, completed_at, duration_ms)
       SELECT gen_random_uuid(), $1, 'o', i::text, 1, 'complete', now(), now(), 0 FROM generate_series(1, $2::int) AS i RETURNING id
     ) INSERT INTO node_run_values (node_run_id, output) SELECT id, 'done' FROM runs`,
    [id, count],
  );
  await pool().query(
    `INSERT INTO node_runs (id, execution_id, node_id, iteration, attempt, status, handle, completed_at)
     SELECT gen_random_uuid(), $1, 'l', i::text, 1, 'complete', 'item', now() FROM generate_series(1, $2::int) AS i`,
    [id, count],
  );
  const { execution_id } = await rerunExecution(admin, { execution_id: id, from_node_id: "d", use_current: false });
  const { rows } = await pool().query(
    `SELECT count(*)::int AS copies FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id
     WHERE r.execution_id = $1 AND r.node_id = 'o' AND v.output = 'done'`,
    [execution_id],
  );
  expect(rows).toEqual([{ copies: count }]);
  await go(execution_id);
  expect((await getExecution(admin, { execution_id })).status).toBe("completed");
});

test("a rejection inside a loop in an earlier segment still ends the run as rejected", async () => {
  const id = await start(
    { t: ["triggerNode"], l: ["loopNode", { items_expression: "[1]" }], r: ["humanLoopNode"], q: ["humanLoopNode"], z: ["outputNode"] },
    ["t>l", "l.body>r", "t>q", "q.approved>z"],
  );
  await go(id);
  await approveExecution(admin, { execution_id: id, node_id: "r", decision: "rejected" });
  await go(id);
  await approveExecution(admin, { execution_id: id, node_id: "q", decision: "approved" });
  await go(id);
  expect((await getExecution(admin, { execution_id: id })).status).toBe("rejected");
});

test("notifications of reviews that nobody needs any more are read", async () => {
  const id = await start({ t: ["triggerNode"], r: ["humanLoopNode"], q: ["humanLoopNode"], x: ["terminateNode"] }, [
    "t>r",
    "t>q",
    "q.approved>x",
  ]);
  await go(id);
  const reviews = await db().wait.findMany({ where: { execution_id: id } });
  expect(reviews).toHaveLength(2);
  const about = { kind: "review", user_id: admin.user.id, project_id: admin.project.id, title: "x", link: "/x" };
  await db().notification.createMany({ data: reviews.map(({ id: subject_id }) => ({ ...about, subject_id })) });
  await approveExecution(admin, { execution_id: id, node_id: "q", decision: "approved" });
  await go(id);
  const unread = await db().notification.count({ where: { subject_id: { in: reviews.map((r) => r.id) }, read_at: null } });
  expect(unread).toBe(0);
});

test("many large results that come at once are stored", async () => {
  const nodes: Golden["nodes"] = { t: ["triggerNode"] };
  const edges: string[] = [];
  for (let i = 0; i < 18; i++) {
    nodes[`a${i}`] = ["agentNode"];
    edges.push(`t>a${i}`);
  }
  const id = await start(nodes, edges);
  const big = "x".repeat(16 * 1024 * 1024 - 1000);
  let started = 0;
  const all = Promise.withResolvers<void>();
  await go(id, {
    callAgent: async () => {
      if (++started === edges.length) all.resolve();
      await all.promise;
      return { output: big };
    },
  });
  const { status } = await db().execution.findUniqueOrThrow({ where: { id }, select: { status: true } });
  expect(status).toBe("completed");
}, 90_000);

test("a wake within a loop of reviews reads how far it is, not what its items came to; their results are read when it closes", async () => {
  const nodes: Golden["nodes"] = {
    t: ["triggerNode"],
    l: ["loopNode", { items_expression: '["a","b","c"]' }],
    r: ["humanLoopNode"],
    o: ["outputNode", { value: "{{l.current_item}}" }],
  };
  const id = await start(nodes, ["t>l", "l.body>r", "r.approved>o"]);
  await go(id);
  for (const _ of ["a", "b"]) {
    await approveExecution(admin, { execution_id: id, decision: "approved" });
    await go(id);
  }
  const found: RunState[] = [];
  const claim: RunStore["claim"] = async (...call) => {
    const acquired = await runStore.claim(...call);
    if (acquired.kind === "claimed") found.push(structuredClone(acquired.run));
    return acquired;
  };
  await approveExecution(admin, { execution_id: id, decision: "approved" });
  await go(id, { store: { ...runStore, claim } });
  const [run] = found;
  expect(run?.items).toEqual([{ node_id: "l", path: "", spans: [[0, 2]], complete: 2, failed: 0, isStopped: false }]);
  expect(run?.ledger.map((row) => `${row.node_id}:${row.iteration}`).sort()).toEqual(["l:", "r:2", "t:"]);
  const ended = await getExecution(admin, { execution_id: id });
  expect(ended.status).toBe("completed");
  expect(ended.node_results.l?.output).toBe('["a","b","c"]');
  expect(ended.output).toBe('["a","b","c"]');
});
