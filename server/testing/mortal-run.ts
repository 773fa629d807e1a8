import type { EngineServices, RunStore } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { type Draw, hashOf } from "#server/testing/random-graph.ts";
import { storedServices } from "#server/testing/stored-run.ts";

/** A process has died. */
export class Killed extends Error {}

/** The store as one process sees it: once it has died, nothing of it is written any more. */
export function mortal(mayDie: () => boolean) {
  const life = { isDead: false };
  const live = () => {
    if (life.isDead) throw new Killed();
  };
  const risk = () => {
    life.isDead ||= mayDie();
    live();
  };
  const store: RunStore = {
    ...runStore,
    commit: async (...args) => {
      risk();
      await runStore.commit(...args);
      risk();
    },
    release: async (...args) => {
      live();
      return runStore.release(...args);
    },
    renew: async (run) => {
      live();
      return runStore.renew(run);
    },
  };
  return { store, life };
}

/** The run loop's ports with agents that answer by what they are asked: some fail, always the same ones. */
export function mortalServices(draw: Draw, store: RunStore): EngineServices {
  let ticks = 0;
  return storedServices({
    store,
    // Time goes on with each look at it, so that a short segment ends in the middle.
    clock: { now: () => new Date(Date.now() + ++ticks) },
    evaluate: (condition) => condition === "True",
    callAgent: async ({ agent_id, message, signal, onDelta }) => {
      onDelta("piece");
      for (let turns = draw(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      if (hashOf(agent_id + message) % 5 === 0) throw new Error(`no ${agent_id}`);
      return { output: `${agent_id}<${message}>`.slice(0, 200) };
    },
  });
}
