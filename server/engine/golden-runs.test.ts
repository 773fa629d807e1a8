import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { advance } from "#server/engine/advance.ts";
import type { EngineServices } from "#server/engine/ports.ts";
import { Graph } from "#server/schemas/graph.ts";
import { memoryStore } from "#server/testing/memory-store.ts";

// Golden runs: a graph and what its agents answer → the order in which nodes start, what is skipped, and how it ends.

interface Golden {
  about: string;
  input?: string;
  /** node id → [type, data]; the trigger is "t" */
  nodes: Record<string, [string, Record<string, unknown>?]>;
  /** "a>b" */
  edges: string[];
  /** Agent → what it answers; "!text" fails with the text. An agent's id is its name. */
  answers: Record<string, string>;
  /** Agents in the order in which their calls end, where that matters. */
  ends?: string[];
  expect: { started: string[]; skipped: string[]; status: string; output?: string | null; error?: string; inputs?: Record<string, string> };
}

const folder = join(import.meta.dirname, "golden");
const goldens = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Golden);

function play(golden: Golden) {
  const nodes = Object.entries(golden.nodes).map(([id, [type, data]]) => ({
    id,
    type,
    position: { x: 0, y: 0 },
    data: { label: id, ...(type === "agentNode" && { agent_id: id }), ...data },
  }));
  const edges = golden.edges.map((text) => {
    const [source = "", target = ""] = text.split(">");
    return { id: text, source, target };
  });
  const memory = memoryStore(Graph.parse({ nodes, edges }), { input: golden.input ?? "" });
  const waiting = new Map<string, () => void>();
  const order = [...(golden.ends ?? [])];
  // One at a time: what an end sets off has happened before the next call ends.
  const release = () => {
    const next = order[0];
    if (next === undefined || !waiting.has(next)) return;
    order.shift();
    waiting.get(next)?.();
    setImmediate(release);
  };
  const inputs: Record<string, string> = {};
  let tick = 0;
  const services: EngineServices = {
    store: memory.store,
    clock: { now: () => new Date(++tick) },
    agentNames: async (_, ids) => new Map(ids.map((id) => [id, `Agent ${id}`])),
    callAgent: async ({ agent_id, message, signal }) => {
      inputs[agent_id] = message;
      if (golden.ends?.includes(agent_id))
        await new Promise<void>((resolve, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason));
          waiting.set(agent_id, resolve);
          release();
        });
      const answer = golden.answers[agent_id] ?? "";
      if (answer.startsWith("!")) throw new Error(answer.slice(1));
      return { output: answer };
    },
  };
  return { memory, inputs, outcome: advance(services, "run", 0, 60) };
}

describe("golden runs", () => {
  it.each(goldens.map((golden) => [golden.about, golden] as const))("%s", async (_, golden) => {
    const { memory, inputs, outcome } = play(golden);
    expect(await outcome).toEqual({ kind: "over" });
    const events = memory.events();
    const started = events.flatMap((event) => (event.type === "node_start" ? [event.node_id] : []));
    const skipped = events.flatMap((event) => (event.type === "node_skipped" ? [event.node_id] : []));
    expect(started).toEqual(golden.expect.started);
    expect(skipped.sort()).toEqual([...golden.expect.skipped].sort());
    const ending = memory.ending();
    expect(ending?.status).toBe(golden.expect.status);
    if (golden.expect.output !== undefined) expect(ending?.output).toBe(golden.expect.output);
    if (golden.expect.error) expect(ending?.error).toContain(golden.expect.error);
    if (golden.expect.inputs) expect(inputs).toMatchObject(golden.expect.inputs);
    expect(events.filter((event) => event.type === "execution_complete" || event.type === "execution_failed")).toHaveLength(1);
  });
});
