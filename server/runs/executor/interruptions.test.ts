import { expect, test } from "vitest";
import type { EngineServices, RunStore } from "#server/runs/ports.ts";
import { dyingAfter, newRun, settle } from "#server/testing/new-run.ts";

// Processes that die, and calls that end at an awkward moment. Each of these has gone wrong once.

/** Agents whose first calls end when the test says so. */
function heldAgents(count: number) {
  const ends = new Map<string, () => void>();
  const calls: string[] = [];
  const callAgent: EngineServices["callAgent"] = async ({ agent_id, signal }) => {
    calls.push(agent_id);
    if (calls.length <= count)
      await new Promise<void>((resolve, reject) => {
        ends.set(agent_id, resolve);
        signal.addEventListener("abort", () => reject(signal.reason));
      });
    return { output: agent_id };
  };
  return { calls, callAgent, end: (id: string) => ends.get(id)?.() };
}

const hasRow = (rows: readonly { node_id: string; status: string }[], id: string, status: string) =>
  rows.some((row) => row.node_id === id && row.status === status);

test("a long call does not keep a decided review of another branch waiting once the time share is up", async () => {
  let now = 0;
  const { calls, callAgent, end } = heldAgents(1);
  const { memory, go } = newRun(
    { t: ["triggerNode"], slow: ["agentNode"], r: ["humanLoopNode"], fast: ["agentNode"] },
    ["t>slow", "t>r", "r.approved>fast"],
    "",
    { clock: { now: () => new Date(now) }, callAgent },
  );
  const run = go(60);
  await settle();
  expect(memory.waiting()).toEqual([{ node_id: "r", iteration: "", reason: "review" }]);
  now = 61_000;
  memory.decide("r", "approved");
  await settle();
  expect(calls).toEqual(["slow", "fast"]);
  end("slow");
  expect(await run).toMatchObject({ kind: "over" });
});

test("a Terminate in a loop is not forgotten when the process dies after an early write", async () => {
  const { memory, go } = newRun(
    {
      t: ["triggerNode"],
      l: ["loopNode", { items_expression: "[1,2]" }],
      x: ["terminateNode", { message: "{{trigger.output}}" }],
      big: ["outputNode"],
    },
    ["t>l", "l.body>big", "big>x"],
    "y".repeat(2_200_000),
  );
  const dying = dyingAfter(memory.store, ({ rows, ending }) => !ending && rows.some((row) => row.node_id === "x"));
  await go(1e6, { store: dying }).catch(() => undefined);
  if (!memory.ending()) await go();
  const started = memory.events().flatMap((event) => (event.type === "node_start" ? [`${event.node_id}:${event.iteration ?? ""}`] : []));
  expect(started).toContain("big:0");
  expect(started).not.toContain("big:1");
  expect(memory.ending()?.status).toBe("completed");
});

test("an attempt that a dead process left is started again, also when the next segment does not get to it", async () => {
  const { memory, go } = newRun(
    { t: ["triggerNode"], a: ["agentNode", { on_error: "continue" }], o: ["outputNode"] },
    ["t>a", "a>o"],
    "in",
  );
  const dying = dyingAfter(memory.store, ({ rows }) => hasRow(rows, "a", "running"));
  await expect(go(1e6, { store: dying })).rejects.toThrow("killed");
  // Another process takes it up while it is told to stop itself.
  expect(await go(1e6, { drain: AbortSignal.abort() })).toEqual({ kind: "yielded" });
  await go();
  expect(memory.ending()?.output).toBe("in");
});

test("the same beside a review that waits, when the process dies once more", async () => {
  const { memory, go } = newRun({ t: ["triggerNode"], a: ["agentNode"], r: ["humanLoopNode"] }, ["t>a", "t>r"], "in");
  const dying = dyingAfter(memory.store, ({ rows }) => hasRow(rows, "a", "running"));
  await expect(go(1e6, { store: dying })).rejects.toThrow("killed");
  await expect(go(1e6, { store: dyingAfter(memory.store, () => true) })).rejects.toThrow("killed");
  expect((await go()).kind).toBe("waiting");
  expect(hasRow(memory.run.ledger, "a", "complete")).toBe(true);
});

test.each([
  ["waiting", { r: ["humanLoopNode"] }, "t>r"],
  ["yielded", { o: ["outputNode"] }, "b>o"],
] as const)("a call that ends while a write is under way is not lost when the segment ends there (%s)", async (kind, more, edge) => {
  let now = 0;
  const { calls, callAgent, end } = heldAgents(2);
  const [[id, [type]]] = Object.entries(more) as [[string, [string]]];
  const nodes = { t: ["triggerNode"], a: ["agentNode"], b: ["agentNode"], [id]: [type] } satisfies Parameters<typeof newRun>[0];
  const { memory, go } = newRun(nodes, ["t>a", "t>b", edge], "in", { clock: { now: () => new Date(now) }, callAgent });
  const store: RunStore = {
    ...memory.store,
    commit: async (run, commit, signal) => {
      if (hasRow(commit.rows, "a", "complete")) {
        end("b");
        await settle();
      }
      await memory.store.commit(run, commit, signal);
    },
  };
  const first = go(60, { store });
  await settle();
  if (kind === "yielded") now = 61_000;
  end("a");
  expect((await first).kind).toBe(kind);
  memory.decide("r", "approved");
  await go(60);
  expect(calls).toEqual(["a", "b"]);
});

test("a call that ended during a write is kept when the process halts", async () => {
  const { calls, callAgent, end } = heldAgents(3);
  const halt = new AbortController();
  const { memory, go } = newRun({ t: ["triggerNode"], a: ["agentNode"], b: ["agentNode"], c: ["agentNode"] }, ["t>a", "t>b", "t>c"], "in", {
    callAgent,
  });
  const store: RunStore = {
    ...memory.store,
    commit: async (run, commit, signal) => {
      await memory.store.commit(run, commit, signal);
      if (!hasRow(commit.rows, "a", "complete")) return;
      end("b");
      await settle();
      halt.abort();
    },
  };
  const first = go(60, { store, halt: halt.signal });
  await settle();
  end("a");
  await first;
  await go(60);
  expect(calls.toSorted()).toEqual(["a", "b", "c", "c"]);
});

test("a node that is given up after five interruptions says so to viewers", async () => {
  const { memory, go } = newRun({ t: ["triggerNode"], a: ["agentNode"] }, ["t>a"]);
  const dying = dyingAfter(memory.store, ({ rows }) => hasRow(rows, "a", "running"));
  for (let attempt = 1; attempt <= 5; attempt++) await expect(go(1e6, { store: dying })).rejects.toThrow("killed");
  await go();
  expect(memory.events()).toContainEqual(expect.objectContaining({ type: "node_failed", node_id: "a" }));
  expect(memory.ending()?.status).toBe("failed");
});
