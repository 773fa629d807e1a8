import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { claimAndExecute, type Outcome } from "#server/runs/executor/execute-run.ts";
import type { RunStore } from "#server/runs/ports.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import { Graph } from "#server/workflow/schema.ts";

/** What happens while a run waits. */
type Step =
  | { resolve: string; outcome: unknown; iteration?: string; text?: string }
  | { approve: string; comment?: string; iteration?: string }
  | { reject: string; comment?: string; iteration?: string }
  | { hours: number };

/** A workflow in short. */
interface Drawn {
  /** node id → [type, data]; the trigger is "t" */
  nodes: Record<string, [string, Record<string, unknown>?]>;
  /** "a>b", or "a.true>b" for a way out with a name */
  edges: string[];
}

/** What happens to a run from outside. */
interface Played extends Drawn {
  input?: string;
  /** Agent → what it answers, the last one again and again; "!text" fails with the text. An agent's id is its name. */
  answers?: Record<string, string | string[]>;
  /** Agents in the order in which their calls end, where that matters. */
  ends?: string[];
  /** What is decided or comes, and hours that pass, one each time the run waits. */
  then?: Step[];
}

export interface Golden extends Played {
  about: string;
  expect: {
    /** With the iteration after a colon where there is one. */
    started: string[];
    skipped: string[];
    status: string;
    output: string | null;
    error?: string;
    inputs?: Record<string, string>;
    calls?: Record<string, number>;
    paused?: string[];
  };
}

const folder = join(import.meta.dirname, "../runs/executor/golden");
export const goldens = readdirSync(folder).map((file) => JSON.parse(readFileSync(join(folder, file), "utf8")) as Golden);
const HOUR_MS = 3_600_000;

export function graphOf(drawn: Drawn): Graph {
  const nodes = Object.entries(drawn.nodes).map(([id, [type, data]]) => ({
    id,
    type,
    position: { x: 0, y: 0 },
    data: { label: id, ...(type === "agentNode" && { agent_id: id }), ...data },
  }));
  const edges = drawn.edges.map((text) => {
    const [from = "", target = ""] = text.split(">");
    const [source = "", sourceHandle] = from.split(".");
    return { id: text, source, target, ...(sourceHandle && { sourceHandle }) };
  });
  return Graph.parse({ nodes, edges });
}

class Killed extends Error {}

/** Does something after so many turns of the event loop: work in slices of time resumes before. */
function afterTurns(turns: number, work: () => void): void {
  setImmediate(() => (turns > 1 ? afterTurns(turns - 1, work) : work()));
}

/**
 * Plays a golden run to its end.
 * @param death with which write the process dies, counted from 1, and whether that one is still made; another process
 *   takes the run up, and calls under way are lost
 */
export async function play(golden: Played, death?: { write: number; isMade: boolean }) {
  const memory = memoryStore(graphOf(golden), { input: golden.input ?? "" });
  let writes = 0;
  const store: RunStore = {
    ...memory.store,
    commit: async (run, commit, signal) => {
      const dies = ++writes === death?.write;
      if (dies && !death.isMade) throw new Killed();
      await memory.store.commit(run, commit, signal);
      if (dies) throw new Killed();
    },
  };
  const held = new Map<string, () => void>();
  const order = [...(golden.ends ?? [])];
  // One at a time: what an end sets off has happened before the next call ends.
  const release = () => {
    const next = order[0];
    if (next === undefined || !held.has(next)) return;
    order.shift();
    held.get(next)?.();
    afterTurns(10, release);
  };
  const inputs: Record<string, string> = {};
  const calls: Record<string, number> = {};
  let now = 0;
  const services = testServices(
    { store },
    {
      clock: { now: () => new Date(++now) },
      agentNames: async (_, ids) => new Map(ids.map((id) => [id, `Agent ${id}`])),
      callAgent: async ({ agent_id, message, signal }) => {
        inputs[agent_id] = message;
        calls[agent_id] = (calls[agent_id] ?? 0) + 1;
        if (golden.ends?.includes(agent_id))
          await new Promise<void>((resolve, reject) => {
            signal.addEventListener("abort", () => reject(signal.reason));
            held.set(agent_id, resolve);
            release();
          });
        const answers = [golden.answers?.[agent_id] ?? message].flat();
        const answer = answers[Math.min(calls[agent_id], answers.length) - 1] ?? "";
        if (answer.startsWith("!")) throw new Error(answer.slice(1));
        return { output: answer };
      },
    },
  );
  const steps = [...(golden.then ?? [])];
  for (;;) {
    const outcome: Outcome | "killed" = await claimAndExecute(services, "run", 1e6).catch((error: unknown) => {
      if (error instanceof Killed) return "killed";
      throw error;
    });
    if (outcome === "killed" && memory.ending() === undefined) continue;
    if (outcome === "killed") return { memory, inputs, calls, outcome: { kind: "over" as const }, left: steps.length };
    const step = outcome.kind === "waiting" ? steps.shift() : undefined;
    if (!step) return { memory, inputs, calls, outcome, left: steps.length };
    if ("hours" in step) now += step.hours * HOUR_MS;
    else if ("resolve" in step) memory.resolve(step.resolve, step.outcome, step.iteration, step.text);
    else if ("approve" in step) memory.decide(step.approve, "approved", step.comment, step.iteration);
    else memory.decide(step.reject, "rejected", step.comment, step.iteration);
  }
}
