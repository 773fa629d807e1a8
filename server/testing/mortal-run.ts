import { approveExecution } from "#server/features/reviews/decide.ts";
import type { ProjectPrincipal } from "#server/platform/auth/principal.ts";
import { db, pool } from "#server/platform/db/client.ts";
import { callbackOf } from "#server/runs/callback-token.ts";
import type { EngineServices, RunStore } from "#server/runs/ports.ts";
import { runStore } from "#server/runs/store/run-store.ts";
import { endWait } from "#server/runs/use-cases/end-children.ts";
import { resolveCallback } from "#server/runs/waits/resolve-callback.ts";
import { childEnd, type Draw, hashOf, randomEffects } from "#server/testing/random-graph.ts";
import { storedServices } from "#server/testing/stored-run.ts";
import { ChildEnd } from "#server/workflow/nodes/workflow-node.ts";

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
    ...randomEffects(draw),
    callAgent: async ({ agent_id, message, signal, onDelta }) => {
      onDelta("piece");
      for (let turns = draw(4); turns > 0; turns--) await new Promise((resolve) => setImmediate(resolve));
      signal.throwIfAborted();
      if (hashOf(agent_id + message) % 5 === 0) throw new Error(`no ${agent_id}`);
      return { output: `${agent_id}<${message}>`.slice(0, 200) };
    },
  });
}

/**
 * Ends some of what a run waits for, each kind as the service does.
 * @param rejects what becomes of a review
 * @throws Error when it waits for nothing
 */
export async function endSome(
  admin: ProjectPrincipal,
  execution_id: string,
  draw: Draw,
  rejects: (node_id: string, iteration: string) => boolean,
): Promise<void> {
  const waiting = await db().wait.findMany({ where: { execution_id, status: "waiting" }, orderBy: { id: "asc" } });
  if (waiting.length === 0) throw new Error("It waits for nothing.");
  for (const { id, node_id, iteration, reason } of waiting) {
    if (!draw(2)) continue;
    const decision = rejects(node_id, iteration) ? "rejected" : "approved";
    if (reason === "review") await approveExecution(admin, { execution_id, node_id, iteration, decision });
    else if (reason === "child") await endWait(id, ChildEnd.parse(childEnd(node_id, iteration)));
    else if (reason === "callback") await resolveCallback(callbackOf(id).token, async () => `{"called": "${node_id}"}`);
    else await pool().query("UPDATE waits SET deadline = now() WHERE id = $1", [id]);
  }
}
