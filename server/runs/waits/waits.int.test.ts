import { beforeAll, beforeEach, expect, test, vi } from "vitest";
import { rerunExecution } from "#server/features/executions/rerun-execution.ts";
import { approveExecution } from "#server/features/reviews/decide.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { sweep } from "#server/platform/db/sweep.ts";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { Commit, RunStore } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { cancelExecution } from "#server/runs/use-cases/cancel-execution.ts";
import { getExecution } from "#server/runs/use-cases/get-execution.ts";
import { resolveCallback } from "#server/runs/waits/resolve-callback.ts";
import { reviewSweep, waitSweep, wakeIfEnded } from "#server/runs/waits/sweep-waits.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { dyingAfter } from "#server/testing/new-run.ts";
import { collectEvents, type SentEvent } from "#server/testing/reviews.ts";
import { startStoredRun, storedServices } from "#server/testing/stored-run.ts";
import { testDatabase } from "#server/testing/test-database.ts";
import { tokens } from "#server/testing/waiting-nodes.ts";

// A wait is one idea: people, the clock and a callback go the same way through the engine, which knows none of these node types.

vi.mock("#server/workflow/nodes/registry.gen.ts", async (original) => {
  const { nodeDefinitions } = await original<typeof import("#server/workflow/nodes/registry.gen.ts")>();
  const { timerNode, callbackNode } = await import("#server/testing/waiting-nodes.ts");
  return { nodeDefinitions: { ...nodeDefinitions, timerNode, callbackNode } };
});

const database = testDatabase();
let admin: ProjectPrincipal;
let sent: SentEvent[];
beforeAll(async () => {
  admin = await database.newAdmin();
});
beforeEach(async () => {
  sent = collectEvents();
  tokens.length = 0;
  await pool().query("UPDATE waits SET taken_at = now(), notified_at = now(), status = 'withdrawn'"); // of earlier tests
});

/** Lets the clock reach the deadlines of a run, or of one wait. */
async function passDeadline(execution_id: string, iteration?: string): Promise<void> {
  const only = iteration === undefined ? "" : " AND iteration = $2";
  const values = iteration === undefined ? [execution_id] : [execution_id, iteration];
  await pool().query(`UPDATE waits SET deadline = now() - interval '1 second' WHERE execution_id = $1${only}`, values);
  await sweep(waitSweep, reviewSweep);
}

interface Kind {
  type: string;
  reason: string;
  /** What its node leaves behind. */
  output: string;
  resolve(execution_id: string, iteration?: string): Promise<unknown>;
}

/** The token of the wait in an iteration: a loop that runs its items one after the other asks for them in order. */
const tokenOf = (iteration = "") => tokens[Number(iteration)] ?? "";
const kinds: Kind[] = [
  {
    ...{ type: "humanLoopNode", reason: "review", output: "approved: fine" },
    resolve: (execution_id, iteration = "") =>
      approveExecution(admin, { execution_id, decision: "approved", comment: "fine", node_id: "w", iteration }),
  },
  { type: "timerNode", reason: "time", output: "expired", resolve: passDeadline },
  {
    ...{ type: "callbackNode", reason: "callback", output: '{"paid":true}' },
    resolve: (_, iteration) => resolveCallback(tokenOf(iteration), async () => '{"paid":true}'),
  },
];
const timely = kinds.filter(({ reason }) => reason !== "time");

const start = (nodes: Golden["nodes"], edges: string[]) => startStoredRun(admin, graphOf({ nodes, edges }));
const oneWait = (type: string) =>
  start({ t: ["triggerNode"], w: [type], z: ["outputNode", { value: "{{w.output}}" }] }, ["t>w", edge(type)]);
const edge = (type: string, target = "z") => (type === "humanLoopNode" ? `w.approved>${target}` : `w>${target}`);
const go = (id: string, store: RunStore = runStore) => claimAndExecute(storedServices({ store }), id, 60);
const waitsOf = (execution_id: string) => db().wait.findMany({ where: { execution_id }, orderBy: { id: "asc" } });
const free = (id: string) => pool().query("UPDATE executions SET lease_until = NULL WHERE id = $1", [id]);
const wakesOf = (id: string) => sent.filter(({ name, data }) => name === "execution/wake" && data.execution_id === id).length;
const opens = ({ waits = [] }: Commit) => waits.length > 0;

/** How often each event of a run was told. */
async function toldOf(execution_id: string): Promise<Record<string, number>> {
  const events = await db().executionEvent.findMany({ where: { execution_id }, select: { type: true } });
  return Object.fromEntries(Object.entries(Object.groupBy(events, ({ type }) => type)).map(([type, all]) => [type, all?.length ?? 0]));
}

test.each(kinds)("a $type pauses its run, which goes on with what came", async ({ type, reason, output, resolve }) => {
  const id = await oneWait(type);
  const outcome = await go(id);
  const [wait] = await waitsOf(id);
  expect(outcome).toMatchObject({ kind: "waiting", run_at: wait?.deadline?.toISOString() ?? null });
  expect(wait).toMatchObject({ node_id: "w", reason, label: "w", status: "waiting", outcome: null, resolved_at: null, taken_at: null });
  const paused = await getExecution(admin, { execution_id: id });
  // Only people pause a run (contract, section 6).
  expect(paused.status).toBe(reason === "review" ? "paused" : "running");
  expect(paused.reviews).toHaveLength(reason === "review" ? 1 : 0);
  await resolve(id);
  expect(wakesOf(id)).toBe(1);
  expect(await go(id)).toMatchObject({ kind: "over" });
  expect(await getExecution(admin, { execution_id: id })).toMatchObject({ status: "completed", output });
  expect(await waitsOf(id)).toMatchObject([{ status: reason === "time" ? "expired" : "resolved", taken_at: expect.any(Date) }]);
  const { execution_paused, execution_resumed, node_waiting, execution_complete } = await toldOf(id);
  const told = { execution_paused, execution_resumed, node_waiting, execution_complete };
  if (reason === "review")
    expect(told).toEqual({ execution_paused: 1, execution_resumed: 1, node_waiting: undefined, execution_complete: 1 });
  else expect(told).toEqual({ execution_paused: undefined, execution_resumed: undefined, node_waiting: 1, execution_complete: 1 });
});

test.each(kinds)("a process that dies once a $type waits loses nothing, and the wait begins once", async ({ type, output, resolve }) => {
  const id = await oneWait(type);
  await expect(go(id, dyingAfter(runStore, opens))).rejects.toThrow("killed");
  await resolve(id);
  await free(id);
  expect(await go(id)).toMatchObject({ kind: "over" });
  expect(await getExecution(admin, { execution_id: id })).toMatchObject({ status: "completed", output });
  expect(await waitsOf(id)).toHaveLength(1);
});

test.each(kinds)("a $type that is resolved before its run has stored that it waits is not forgotten", async ({ type, output, resolve }) => {
  const id = await oneWait(type);
  let isResolved = false;
  const store: RunStore = {
    ...runStore,
    commit: async (run, commit, signal) => {
      await runStore.commit(run, commit, signal);
      if (!opens(commit)) return;
      isResolved = true;
      await resolve(id);
    },
    // The segment does not hear of it.
    onControl: async () => async () => undefined,
  };
  const before = wakesOf(id);
  const outcome = await go(id, store);
  expect(isResolved).toBe(true);
  if (outcome.kind === "waiting") {
    sent.length = 0;
    await wakeIfEnded(id, "0-0");
    expect(wakesOf(id)).toBeGreaterThan(before);
  }
  // Giving the lease back finds that something has happened, unless the segment has seen it itself.
  if (outcome.kind !== "over") expect(await go(id)).toMatchObject({ kind: "over" });
  expect(await getExecution(admin, { execution_id: id })).toMatchObject({ status: "completed", output });
});

test.each(timely)("of many who resolve a $type at once, one does; later ones are told so", async ({ type, resolve }) => {
  const id = await oneWait(type);
  await go(id);
  const results = await Promise.allSettled(Array.from({ length: 8 }, () => resolve(id)));
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
  for (const result of results) if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "CONFLICT" });
  await go(id);
  await expect(resolve(id)).rejects.toMatchObject({ code: "CONFLICT" });
  expect((await toldOf(id)).execution_resumed).toBe(type === "humanLoopNode" ? 1 : undefined);
});

test.each(timely)("a $type that is resolved at its deadline is either resolved or too late, and its run knows which", async (kind) => {
  for (let round = 0; round < 8; round++) {
    tokens.length = 0;
    const id = await oneWait(kind.type);
    await go(id);
    await pool().query("UPDATE waits SET deadline = clock_timestamp() + interval '5 milliseconds' WHERE execution_id = $1", [id]);
    const [resolved] = await Promise.allSettled([
      kind.resolve(id),
      sweep(waitSweep, reviewSweep),
      new Promise((resolve) => setTimeout(resolve, 6)).then(() => sweep(waitSweep, reviewSweep)),
    ]);
    const isFirst = resolved?.status === "fulfilled";
    if (resolved?.status === "rejected") expect(resolved.reason).toMatchObject({ code: "CONFLICT" });
    expect(await waitsOf(id)).toMatchObject([{ status: isFirst ? "resolved" : "expired" }]);
    await go(id);
    const { status, output } = await getExecution(admin, { execution_id: id });
    const late = kind.reason === "review" ? "rejected" : "failed";
    expect([status, isFirst ? output : null]).toEqual(isFirst ? ["completed", kind.output] : [late, null]);
  }
});

test.each(kinds)("each item of a loop waits at its own $type", async ({ type, output, resolve }) => {
  const loop = { items_expression: '["a","b","c"]', concurrency: 3 };
  const o = ["outputNode", { value: "{{l.current_item}} {{w.output}}" }] satisfies Golden["nodes"][string];
  const id = await start({ t: ["triggerNode"], l: ["loopNode", loop], w: [type], o }, ["t>l", "l.body>w", edge(type, "o")]);
  await go(id);
  expect((await waitsOf(id)).map(({ iteration }) => iteration)).toEqual(["0", "1", "2"]);
  for (const iteration of ["2", "0", "1"]) {
    await resolve(id, iteration);
    await go(id);
  }
  const { status, node_results } = await getExecution(admin, { execution_id: id });
  expect(status).toBe("completed");
  expect(JSON.parse(node_results.l?.output ?? "")).toEqual(["a", "b", "c"].map((item) => `${item} ${output}`));
});

test.each(kinds)("a rerun from a $type waits again; one from what follows it does not", async ({ type, output, resolve }) => {
  const id = await oneWait(type);
  await go(id);
  await resolve(id);
  await go(id);
  const after = await rerunExecution(admin, { execution_id: id, from_node_id: "z", use_current: false });
  expect(await go(after.execution_id)).toMatchObject({ kind: "over" });
  expect(await getExecution(admin, { execution_id: after.execution_id })).toMatchObject({ status: "completed", output });
  expect(await waitsOf(after.execution_id)).toEqual([]);
  tokens.length = 0;
  const again = await rerunExecution(admin, { execution_id: id, from_node_id: "w", use_current: false });
  expect(await go(again.execution_id)).toMatchObject({ kind: "waiting" });
  await resolve(again.execution_id);
  expect(await go(again.execution_id)).toMatchObject({ kind: "over" });
  expect(await getExecution(admin, { execution_id: again.execution_id })).toMatchObject({ status: "completed", output });
});

test.each(kinds)("a run that ends withdraws its $type", async ({ type, reason, resolve }) => {
  const nodes: Golden["nodes"] = { t: ["triggerNode"], w: [type], a: ["agentNode"], x: ["terminateNode"] };
  const ended = await start(nodes, ["t>w", "t>a", "a>x"]);
  await go(ended);
  expect(await waitsOf(ended)).toMatchObject([{ status: "withdrawn" }]);
  tokens.length = 0;
  const cancelled = await oneWait(type);
  await go(cancelled);
  await cancelExecution(admin, { execution_id: cancelled });
  expect(await waitsOf(cancelled)).toMatchObject([{ status: "withdrawn" }]);
  if (reason !== "time") await expect(resolve(cancelled)).rejects.toMatchObject({ code: "CONFLICT" });
});

test("the token of a callback is kept as a hash, is good for its own wait only, and brings no more than it may", async () => {
  const id = await oneWait("callbackNode");
  await go(id);
  const other = await oneWait("callbackNode");
  await go(other);
  const [token = "", otherToken = ""] = tokens;
  const kept = await pool().query<{ text: string }>(
    `SELECT to_jsonb(w)::text AS text FROM waits w WHERE execution_id = $1 UNION ALL SELECT data::text FROM execution_events WHERE execution_id = $1
     UNION ALL SELECT to_jsonb(v)::text FROM node_runs r JOIN node_run_values v ON v.node_run_id = r.id WHERE r.execution_id = $1`,
    [id],
  );
  for (const { text } of kept.rows) expect(text).not.toContain(token);
  // The id of one wait with the secret of another.
  const [mine, theirs] = [Buffer.from(token, "base64url"), Buffer.from(otherToken, "base64url")];
  const mixed = Buffer.concat([mine.subarray(0, 16), theirs.subarray(16)]).toString("base64url");
  for (const wrong of ["", "x", mixed, `${token}AAAA`, token.slice(0, -4)])
    await expect(
      resolveCallback(wrong, async () => "{}"),
      wrong,
    ).rejects.toMatchObject({ code: "NOT_FOUND" });
  await expect(resolveCallback(token, async () => `"${"x".repeat(1_000_000)}"`)).rejects.toMatchObject({ code: "PAYLOAD_TOO_LARGE" });
  for (const wrong of ["", "{", `${"[".repeat(200)}${"]".repeat(200)}`])
    await expect(
      resolveCallback(token, async () => wrong),
      wrong,
    ).rejects.toMatchObject({ code: "VALIDATION_ERROR" });
  await resolveCallback(token, async () => '{"a\\u0000b":"\\u0000c"}');
  await go(id);
  expect((await getExecution(admin, { execution_id: id })).output).toBe('{"ab":"c"}');
  expect((await getExecution(admin, { execution_id: other })).node_results.w?.status).toBe("waiting");
});

test("a callback that nobody makes in time fails its node with the reason that its type gives", async () => {
  const id = await oneWait("callbackNode");
  await go(id);
  await passDeadline(id);
  await expect(resolveCallback(tokenOf("0"), async () => "{}")).rejects.toMatchObject({
    code: "CONFLICT",
    message: expect.stringContaining("any more"),
  });
  await go(id);
  const { status, node_results } = await getExecution(admin, { execution_id: id });
  expect(status).toBe("failed");
  expect(node_results.w).toMatchObject({ status: "failed", error: "Nobody called in time." });
});
