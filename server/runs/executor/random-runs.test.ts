import { expect, test } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { RunStore } from "#server/runs/ports.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import { childEnd, type Draw, drawFrom, hashOf, playGraphs, randomEffects, tameRejections } from "#server/testing/random-graph.ts";
import { times } from "#server/testing/times.ts";
import type { Graph } from "#server/workflow/schema.ts";

// Random graphs with loops, branches, waits, effects and ends, played with processes that die before and after writes, short
// segments and decisions at random moments.

const GRAPHS = times(30);
const MOST_DEATHS = 4;
const MOST_SEGMENTS = 3000;
/** More than a review's deadline, in milliseconds. */
const LATER_MS = 3_700_000;

class Killed extends Error {}
interface Chaos {
  dies: boolean;
  isShort: boolean;
  /** Whether a review is rejected. */
  rejects(node_id: string, iteration: string): boolean;
}
type Played = ReturnType<typeof memoryStore>;
const turn = () => new Promise((resolve) => setImmediate(resolve));

/** The store as one process sees it: it may die with any write, and then nothing of it is written any more. */
function mortal(store: RunStore, mayDie: () => boolean): RunStore {
  let isDead = false;
  const die = () => {
    isDead ||= mayDie();
    if (isDead) throw new Killed();
  };
  return {
    ...store,
    commit: async (...args) => {
      await turn();
      die();
      await store.commit(...args);
      die();
    },
  };
}

function endSome(memory: Played, draw: Draw, rejects: Chaos["rejects"]): void {
  for (const { node_id, iteration, reason } of memory.waiting()) {
    if (draw(2) === 0 || reason === "time") continue;
    if (reason === "review") memory.decide(node_id, rejects(node_id, iteration) ? "rejected" : "approved", null, iteration);
    else memory.resolve(node_id, reason === "child" ? childEnd(node_id, iteration) : { called: node_id }, iteration);
  }
}

async function play(graph: Graph, seed: number, { dies, isShort, rejects }: Chaos): Promise<Played> {
  const draw = drawFrom(seed);
  const memory = memoryStore(graph, { input: "in" });
  let now = 0;
  let deaths = 0;
  const mayDie = () => {
    const isTime = dies && deaths < MOST_DEATHS && draw(4) === 0;
    deaths += Number(isTime);
    return isTime;
  };
  for (let segment = 0; segment < MOST_SEGMENTS; segment++) {
    const services = testServices(
      { store: mortal(memory.store, mayDie) },
      {
        clock: { now: () => new Date(++now) },
        agentNames: async (_, ids) => new Map(ids.map((id) => [id, `Agent ${id}`])),
        evaluate: (condition) => condition === "True",
        ...randomEffects(draw),
        callAgent: async ({ agent_id, message, signal }) => {
          for (let turns = draw(4); turns > 0; turns--) {
            await turn();
            signal.throwIfAborted();
            if (draw(3) === 0) endSome(memory, draw, rejects);
          }
          if (hashOf(agent_id + message) % 5 === 0) throw new Error(`no ${agent_id}`);
          return { output: hashOf(message) % 3 ? `${agent_id}<${message}>` : JSON.stringify({ [agent_id]: message.length }) };
        },
      },
    );
    const seconds = isShort ? 0.001 * (5 + draw(40)) : 1e6;
    const kind = await claimAndExecute(services, "run", seconds).then(
      (outcome) => outcome.kind,
      (error: unknown) => {
        if (error instanceof Killed) return "killed" as const;
        throw error;
      },
    );
    if (memory.ending()) return memory;
    if (kind === "over") throw new Error("It is over without an end.");
    if (kind !== "waiting") continue;
    if (!memory.run.ledger.some(({ status }) => status === "waiting")) throw new Error("It waits for nothing.");
    if (draw(3) === 0) now += LATER_MS;
    endSome(memory, draw, rejects);
  }
  throw new Error("It never ends.");
}

/** What holds of every run that has ended. */
function check(memory: Played): void {
  const events = memory.events();
  expect(events.filter(({ type }) => type === "execution_complete" || type === "execution_failed")).toHaveLength(1);
  expect(events.at(-1)?.type).toMatch(/^execution_/);
  expect(memory.run.ledger.filter(({ status }) => status === "running" || status === "waiting")).toEqual([]);
  expect(memory.waiting()).toEqual([]);
  const complete = memory.run.ledger.filter(({ status }) => status === "complete");
  const rows = complete.map(({ node_id, iteration, handle }) => `${node_id}:${iteration}:${handle === "item"}`);
  expect(new Set(rows).size).toBe(rows.length);
  const told = events.flatMap((event) => (event.type === "node_complete" ? [`${event.node_id}:${event.iteration ?? ""}`] : []));
  expect(new Set(told).size).toBe(told.length);
}

/** What must be the same however a run is played; its output may be that of the node that ended last. */
function pictureOf(memory: Played) {
  const { status, error, outputs } = memory.ending() ?? {};
  const rows = memory.run.ledger.filter(({ is_interrupted }) => !is_interrupted);
  return {
    ending: { status, error, outputs },
    rows: rows.map((row) => `${row.node_id}:${row.iteration}:${row.handle ?? ""} ${row.status} ${row.error ?? row.output}`).sort(),
  };
}

test(
  "a graph whose result depends on no order ends the same however it is played",
  async () => {
    const played = await playGraphs(1, GRAPHS, false, async (graph, seed) => {
      const rejects = tameRejections(graph);
      const calm = await play(graph, seed, { dies: false, isShort: false, rejects });
      check(calm);
      for (let round = 0; round < 3; round++) {
        const broken = await play(graph, seed * 7 + round, { dies: true, isShort: round > 0, rejects });
        check(broken);
        expect(pictureOf(broken)).toEqual(pictureOf(calm));
      }
    });
    expect(played).toBeGreaterThan(GRAPHS / 2);
  },
  times(15_000),
);

test(
  "any graph ends once, with nothing left open",
  async () => {
    const played = await playGraphs(100_001, GRAPHS, true, async (graph, seed) => {
      const rejects = (node_id: string, iteration: string) => hashOf(`${node_id} ${iteration}${seed}`) % 4 === 0;
      for (let round = 0; round < 3; round++) check(await play(graph, seed * 7 + round, { dies: round > 0, isShort: round > 1, rejects }));
    });
    expect(played).toBeGreaterThan(GRAPHS / 2);
  },
  times(15_000),
);
