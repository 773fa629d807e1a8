import { expect } from "vitest";
import { claimAndExecute } from "#server/runs/executor/execute-run.ts";
import type { Commit, EngineServices, RunStore } from "#server/runs/ports.ts";
import { testServices } from "#server/testing/engine-services.ts";
import { type Golden, graphOf } from "#server/testing/golden-play.ts";
import { memoryStore } from "#server/testing/memory-store.ts";
import { findFaults } from "#server/workflow/graph.ts";
import { findProblems } from "#server/workflow/problems.ts";

/** A run of a graph that a save accepts, in memory; its agents answer what they were asked unless the test says otherwise. */
export function newRun(nodes: Golden["nodes"], edges: string[], input = "", own: Partial<EngineServices> = {}) {
  const graph = graphOf({ nodes, edges });
  expect(findFaults(graph)).toEqual([]);
  const memory = memoryStore(graph, { input });
  let now = 0;
  const services = testServices(memory, {
    clock: { now: () => new Date(++now) },
    agentNames: async (_, ids) => new Map(ids.map((id) => [id, `Agent ${id}`])),
    callAgent: async ({ message }) => ({ output: message }),
    ...own,
  });
  return {
    graph,
    memory,
    /** What the start of a run would refuse it for. */
    problems: () => findProblems(graph, { agentName: (id) => `Agent ${id}` }),
    /** One segment. */
    go: (seconds = 1e6, changed: Partial<EngineServices> = {}) => claimAndExecute({ ...services, ...changed }, "run", seconds),
  };
}

/** A store whose process dies right after a write. */
export const dyingAfter = (store: RunStore, when: (commit: Commit) => boolean): RunStore => ({
  ...store,
  commit: async (run, commit, signal) => {
    await store.commit(run, commit, signal);
    if (when(commit)) throw new Error("killed");
  },
});

/** Lets everything happen that needs no call to end. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 200; round++) await new Promise((resolve) => setImmediate(resolve));
}
