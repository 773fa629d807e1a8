import { describe, expect, it } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import { type EngineServices, HostFault, LeaseLost, type LedgerRow } from "#server/runs/ports.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import type { Graph } from "#server/workflow/schema.ts";

const node = (id: string, type: string, data = {}) => ({ id, type, position: { x: 0, y: 0 }, data: { label: id, ...data } });
const edge = (source: string, target: string) => ({ id: `${source}>${target}`, source, target });
const chain: Graph = {
  nodes: [
    node("t", "triggerNode"),
    node("a", "agentNode", { agent_id: "a" }),
    node("b", "agentNode", { agent_id: "b" }),
    node("o", "outputNode"),
  ],
  edges: [edge("t", "a"), edge("a", "b"), edge("b", "o")],
};
const row = (node_id: string, status: LedgerRow["status"], rest: Partial<LedgerRow> = {}): LedgerRow => ({
  id: `row-${node_id}`,
  node_id,
  iteration: "",
  attempt: 1,
  status,
  handle: null,
  output: null,
  error: null,
  started_at: new Date(1),
  completed_at: status === "running" ? null : new Date(2),
  input_tokens: 0,
  output_tokens: 0,
  items: null,
  input: null,
  ...rest,
});

function services(memory: ReturnType<typeof memoryStore>, callAgent: EngineServices["callAgent"], now = () => new Date()): EngineServices {
  return testServices(memory, { clock: { now }, callAgent });
}

describe("advance", () => {
  it("writes the first results of a run under which a process has died at once, and else together with the end", async () => {
    const pure: Graph = {
      nodes: [node("t", "triggerNode"), node("o", "outputNode"), node("p", "outputNode")],
      edges: [edge("t", "o"), edge("o", "p")],
    };
    const writesOf = async (crashes: number) => {
      const memory = memoryStore(pure, { input: "x" });
      memory.run.crashes = crashes;
      const fails = async () => {
        throw new Error("not called");
      };
      expect(await claimAndExecute(services(memory, fails), "run", 60)).toMatchObject({ kind: "over" });
      return memory.commits.map(({ rows }) => rows.map(({ node_id }) => node_id));
    };
    expect(await writesOf(0)).toEqual([["t", "o", "p"]]);
    expect(await writesOf(2)).toEqual([["t"], ["o", "p"]]);
  });

  it("goes on from the ledger: what is complete is not run again, an interrupted attempt is", async () => {
    const memory = memoryStore(chain, {
      input: "x",
      ledger: [row("t", "complete", { output: "x" }), row("a", "complete", { output: "A" }), row("b", "running", { attempt: 1 })],
    });
    const called: string[] = [];
    const outcome = await claimAndExecute(
      services(memory, async ({ agent_id, message }) => {
        called.push(`${agent_id}(${message})`);
        return { output: "B" };
      }),
      "run",
      60,
    );
    expect(outcome).toMatchObject({ kind: "over" });
    expect(called).toEqual(["b(A)"]);
    expect(memory.rows().filter((written) => written.node_id === "b")).toMatchObject([
      { attempt: 1, status: "failed", error: expect.stringContaining("Interrupted") },
      { attempt: 2, status: "running" },
      { attempt: 2, status: "complete", output: "B" },
    ]);
    expect(memory.ending()).toMatchObject({ status: "completed", output: "B" });
  });

  it("writes a call down as running before it is made, and its result before the next one starts", async () => {
    const memory = memoryStore(chain, { input: "x" });
    const seen: string[][] = [];
    await claimAndExecute(
      services(memory, async () => {
        seen.push(memory.rows().map((written) => `${written.node_id}:${written.status}`));
        return { output: "ok" };
      }),
      "run",
      60,
    );
    expect(seen).toEqual([
      ["t:complete", "a:running"],
      ["t:complete", "a:running", "a:complete", "b:running"],
    ]);
  });

  it("starts nothing new after its time share, and says that there is more to do", async () => {
    let now = 0;
    const memory = memoryStore(chain, { input: "x" });
    const called: string[] = [];
    const outcome = await claimAndExecute(
      services(
        memory,
        async ({ agent_id }) => {
          called.push(agent_id);
          now = 61_000;
          return { output: "late" };
        },
        () => new Date(now),
      ),
      "run",
      60,
    );
    expect(outcome).toEqual({ kind: "yielded" });
    expect(called).toEqual(["a"]);
    expect(memory.rows().at(-1)).toMatchObject({ node_id: "a", status: "complete" });
    expect(memory.ending()).toBeUndefined();
  });

  it("aborts its calls and writes nothing more when the lease is lost", async () => {
    const memory = memoryStore(chain, { input: "x" });
    let onControl = () => {};
    memory.store.onControl = async (_, callback) => {
      onControl = callback;
      return () => undefined;
    };
    memory.store.renew = async () => false;
    let isAborted = false;
    const outcome = await claimAndExecute(
      services(memory, ({ signal }) => {
        onControl();
        return new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            isAborted = true;
            reject(signal.reason);
          }),
        );
      }),
      "run",
      60,
    );
    expect(outcome).toEqual({ kind: "yielded" });
    expect(isAborted).toBe(true);
    expect(memory.rows().at(-1)).toMatchObject({ node_id: "a", status: "running" });
  });

  it("ends quietly when another process took over between two writes, and counts no call when it made none", async () => {
    const memory = memoryStore(chain, { input: "x" });
    memory.store.commit = async () => {
      throw new LeaseLost("taken");
    };
    let counts = 0;
    memory.store.spent = async () => void counts++;
    expect(
      await claimAndExecute(
        services(memory, async () => ({ output: "never" })),
        "run",
        60,
      ),
    ).toEqual({ kind: "yielded" });
    expect(counts).toBe(0);
  });

  it("tells who holds the run", async () => {
    const memory = memoryStore(chain);
    memory.store.claim = async () => ({ kind: "busy", seconds: 5 });
    expect(
      await claimAndExecute(
        services(memory, async () => ({ output: "" })),
        "run",
        60,
      ),
    ).toEqual({ kind: "busy", seconds: 5 });
  });

  it("lets every fault of the database through, so that the step is tried again", async () => {
    const memory = memoryStore(chain);
    memory.store.commit = async () => {
      throw new Error("the disk is full");
    };
    await expect(
      claimAndExecute(
        services(memory, async () => ({ output: "" })),
        "run",
        60,
      ),
    ).rejects.toThrow("the disk is full");
  });

  it("does not fail a node for a fault of the host: the step is tried again and finds the attempt interrupted", async () => {
    const memory = memoryStore(chain, { input: "x" });
    const away = async () => {
      throw new HostFault("the database went away");
    };
    await expect(claimAndExecute(services(memory, away), "run", 60)).rejects.toThrow("the database went away");
    expect(memory.rows().at(-1)).toMatchObject({ node_id: "a", status: "running" });
    expect(memory.ending()).toBeUndefined();
  });

  it("keeps what other calls brought when the host fails one of them", async () => {
    const fork: Graph = { nodes: chain.nodes.slice(0, 3), edges: [edge("t", "a"), edge("t", "b")] };
    const memory = memoryStore(fork, { input: "x" });
    const failed = Promise.withResolvers<void>();
    const callAgent: EngineServices["callAgent"] = async ({ agent_id }) => {
      if (agent_id === "b") {
        failed.resolve();
        throw new HostFault("the database went away");
      }
      await failed.promise;
      return { output: "paid for" };
    };
    await expect(claimAndExecute(services(memory, callAgent), "run", 60)).rejects.toThrow("the database went away");
    expect(memory.rows().at(-1)).toMatchObject({ node_id: "a", status: "complete", output: "paid for" });
  });

  it("gives up on a node that was interrupted five times, with the reason", async () => {
    const memory = memoryStore(chain, { input: "x", ledger: [row("t", "complete", { output: "x" }), row("a", "running", { attempt: 5 })] });
    await claimAndExecute(
      services(memory, async () => ({ output: "never" })),
      "run",
      60,
    );
    expect(memory.ending()).toMatchObject({ status: "failed", error: expect.stringContaining("It is not started again.") });
  });

  it("starts nothing new when its process is told to stop, and keeps what comes in", async () => {
    const memory = memoryStore(chain, { input: "x" });
    const drain = new AbortController();
    const called: string[] = [];
    const callAgent: EngineServices["callAgent"] = async ({ agent_id }) => {
      called.push(agent_id);
      drain.abort();
      return { output: "in time" };
    };
    expect(await claimAndExecute({ ...services(memory, callAgent), drain: drain.signal }, "run", 60)).toEqual({ kind: "yielded" });
    expect(called).toEqual(["a"]);
    expect(memory.rows().at(-1)).toMatchObject({ node_id: "a", status: "complete", output: "in time" });
  });

  it("aborts a call that does not end before its process must, and gives the run back", async () => {
    const memory = memoryStore(chain, { input: "x" });
    const halt = new AbortController();
    let isReleased = false;
    memory.store.release = async () => {
      isReleased = true;
      return false;
    };
    const callAgent: EngineServices["callAgent"] = ({ signal }) =>
      new Promise((_, reject) => {
        signal.addEventListener("abort", () => reject(signal.reason));
        halt.abort();
      });
    expect(await claimAndExecute({ ...services(memory, callAgent), halt: halt.signal }, "run", 60)).toEqual({ kind: "yielded" });
    expect(isReleased).toBe(true);
    expect(memory.rows().at(-1)).toMatchObject({ node_id: "a", status: "running" });
  });

  it.each([
    [Object.assign(new Error("too large"), { code: "54000" }), "A result could not be stored: too large"],
    [new RangeError("Invalid string length"), "The results together are too long to be stored. Keep less of them."],
  ])("ends a run whose result cannot be stored, instead of calling again and again: %s", async (refusal, error) => {
    const memory = memoryStore(chain, { input: "x" });
    const { commit } = memory.store;
    memory.store.commit = async (run, what, signal) => {
      if (what.rows.some((written) => written.status === "complete" && written.node_id === "a")) throw refusal;
      return commit(run, what, signal);
    };
    expect(
      await claimAndExecute(
        services(memory, async () => ({ output: "huge" })),
        "run",
        60,
      ),
    ).toMatchObject({ kind: "over" });
    expect(memory.ending()).toMatchObject({ status: "failed", error });
  });

  it("passes pieces of an answer on, and none after the result", async () => {
    const memory = memoryStore(chain, { input: "x" });
    const { deltas } = memory.store;
    const write = Promise.withResolvers<void>();
    memory.store.deltas = async (run, events) => {
      await deltas(run, events);
      write.resolve();
    };
    await claimAndExecute(
      services(memory, async ({ agent_id, onDelta }) => {
        onDelta("Hel");
        onDelta("lo");
        if (agent_id === "a") await write.promise;
        return { output: "Hello" };
      }),
      "run",
      60,
    );
    expect(memory.deltas).toMatchObject([{ type: "node_delta", node_id: "a", content: "Hello" }]);
  });
});
